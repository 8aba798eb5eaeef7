"""Controls of the page Training."""

from app_pages.controls.address import INDEX, Code, SelectBox, Tabs, Toggle

RECORDING, HISTORY = "Recording", "Training history"
ACCURACY, ENTROPY, NORMS, GRADIENTS = "accuracy", "entropy of the heads", "residual norms", "gradient norms"

PART = Tabs("training", (RECORDING, HISTORY))
PROBE = SelectBox[int](
    "training_probe", "Input", width=300, help="Every run was recorded on the same few inputs."
)
CURVES = SelectBox("training_curves", "Curves", (ACCURACY, ENTROPY, NORMS, GRADIENTS), width=260)
LOG_STEPS = Toggle("training_log", "Logarithmic steps")
# A step of the longest recording; the player sets it once nothing moves any more.
MOMENT = Code("moment", pattern=INDEX)
