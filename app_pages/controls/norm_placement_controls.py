"""Controls of the page Norm placement."""

from app_pages.controls.address import Toggle
from model.claims.catalogue import CLAIMS

# By the key of a claim: whether its values are shown below its row.
VALUES = {claim.key: Toggle(f"norm_{claim.key}", "Values") for claim in CLAIMS}
