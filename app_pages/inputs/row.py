"""The input row of a page: the input, the encoder that reads it, and information about that encoder."""

from collections.abc import Sequence
from typing import NoReturn

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app_pages.controls.address import LONGEST, TextBox
from app_pages.controls.chosen_word import keep_query, remember_choice
from app_pages.controls.control_bar import Slots, bar
from app_pages.controls.input_controls import CHECKPOINT, KIND, OTHER_KIND, SECOND_PART, TEXT
from app_pages.inputs import drawing
from app_pages.inputs.input_list import draw_stepper, right_class
from app_pages.inputs.linked_encoders import say_gone
from app_pages.inputs.record_input import draw_first_upload, record_input
from app_pages.inputs.text_input import text_input
from app_pages.show.heading import draw_heading_again, say_purpose
from app_pages.show.prediction import answer, unknown_sentence
from app_pages.subject import encoders, session_encoders
from app_pages.subject.cache import Checkpoint, cached, loaded
from app_pages.subject.subject import FileSubject, LiveSubject, Subject, encoded_text, n_parameters
from app_pages.toolkit.markdown import PLACEMENTS, counted, plain
from model import checkpoint
from model.checkpoint.purpose import purpose
from model.checkpoint.training_history import Figures, all_figures
from model.inputs import Picture, Text
from model.inputs.text import has_character_vocabulary, space_out_characters
from model.loaded import Loaded
from model.sources.names import group_by_seed, split_seed
from viz.builders.number_format import percent_with_error, standard_error

INVITATION = {
    encoders.TEXT: "Type a sentence above, or choose an example there, to see all heads.",
    encoders.DIGIT: "Draw a digit above, or upload a picture of one, to see all heads.",
    encoders.PICTURE: "Upload a picture above, or choose an example there, to see all heads.",
}
NEEDS_ENCODER = (
    "This page runs an encoder, but a record holds only the results of one run: choose Text or Digit. Records are shown on "
    "the pages Attention and Heads, there in the table."
)
NO_ENCODER = "This page needs an encoder, which a record does not contain: choose Text or Digit."
_ENCODER_HELP = (
    "The trained encoder that reads the input. Pre-LN: a LayerNorm stands before attention and before feed-forward; "
    "post-LN: after each of the two additions."
)

# By words in the name of a data set.
_DATA_SET_DESCRIPTIONS = {
    "SST": "SST is the Stanford Sentiment Treebank: single sentences from film reviews.",
    "of our own": "Sentences of our own were written for this project; in each a word like “not” or “never” decides.",
}
NO_NUMBERS = (
    "cannot be shown with this input, choose another one: its activations are too large for float32, and what was computed "
    "from them is no number."
)


def choose_input(
    places: tuple[DeltaGenerator, DeltaGenerator] | None = None, *, with_answer: bool = True
) -> tuple[LiveSubject, Slots]:
    """Draws the input row and the bar of controls below it; returns the chosen encoder with its input, and the page's containers.

    `places` are the two containers of the bar, if the page has drawn it itself. Without an encoder or an input, the page ends
    with a sentence that says so. Pages that show several answers turn `with_answer` off: the line below the title then names the
    encoder and its purpose, but not its answer.
    """
    row = _Row(with_record=False)
    if row.kind == encoders.RECORD:
        row.open_record()
        stop(NEEDS_ENCODER)
    return row.live_subject(with_answer), row.slots(places)


def choose_input_or_record() -> tuple[Subject, Slots]:
    """Like `choose_input`, for pages that need only attention patterns and so also accept records from files."""
    row = _Row(with_record=True)
    subject = row.file_subject() if row.kind == encoders.RECORD else row.live_subject()
    return subject, row.slots()


class _Row:
    """The containers of the input row, with the chosen kind of input and encoder."""

    def __init__(self, *, with_record: bool) -> None:
        with st.container(horizontal=True, vertical_alignment="center", key="input"):
            self.kind = _choose_kind(with_record=with_record)
            self._input = st.container(
                horizontal=True,
                vertical_alignment="center",
                gap="xsmall",
                key=f"input_{self.kind.lower()}",
            )
            self._beside = st.container(horizontal=True, vertical_alignment="center", key="input_beside")
            self._name = None if self.kind == encoders.RECORD else _choose_encoder(self.kind)
            self._about = st.container(width="content")
            self._answer = st.container(
                horizontal=True, vertical_alignment="center", width="content", key="answer"
            )

    def slots(self, bar_of_page: tuple[DeltaGenerator, DeltaGenerator] | None = None) -> Slots:
        """Containers that the page fills; draws the bar if the page has none."""
        controls, bar_end = bar_of_page or bar("controls")
        return Slots(beside=self._beside, answer=self._answer, controls=controls, bar_end=bar_end)

    def open_record(self) -> FileSubject | None:
        """Shows the open record in the row; returns it, None if none is open."""
        with self._input:
            return record_input()

    def file_subject(self) -> FileSubject:
        """The open record; if none is open, draws the upload and ends the page."""
        if (subject := self.open_record()) is None:
            draw_first_upload()
            st.stop()
        for sentence in filter(None, (subject.limit_sentences, subject.odd_rows_sentence)):
            st.caption(sentence)
        keep_query(subject.record)
        return subject

    def live_subject(self, with_answer: bool = True) -> LiveSubject:
        """The chosen encoder with its input; also writes the encoder's purpose into the heading.

        Ends the page with a sentence if encoder or input is missing or cannot be used.
        """
        kind, name = self.kind, self._name
        say_gone(name)
        with self._input:
            label: int | None = None
            if kind == encoders.TEXT:
                model_input: Text | Picture | None = text_input(name)
            else:
                # Here, since it draws a figure: at the server's start nothing that draws figures is imported before the first
                # prediction.
                from app_pages.inputs.picture_input import picture_input

                model_input, label = picture_input(kind, name)
            label = encoders.label_for(name, label)
            label = right_class(kind, name, model_input) if label is None else label
            draw_stepper(kind, name, model_input)
        if name is None:
            stop(f"There is no encoder for this input: none in `checkpoints/` reads a {kind.lower()}.")
        try:
            encoder = loaded(name)
            with self._about:
                _draw_description(encoder, n_parameters(name))
            is_empty = isinstance(model_input, Text) and encoded_text(name, model_input).n_read == 0
        except (ValueError, OSError) as error:
            stop(f"The encoder {name} cannot be used ({plain(str(error))}). Choose another one.")
        if model_input is None or is_empty:
            if with_answer:  # its room: the first stroke of a drawing, or word, moves nothing
                self._answer.html('<span class="no-answer">\N{NO-BREAK SPACE}</span>')
            stop(INVITATION[kind])
        subject = LiveSubject(name, model_input, label)
        if not subject.record.is_finite:
            stop(f"The encoder {plain(name)} {NO_NUMBERS}")
        keep_query(subject.record)
        is_said = say_purpose(
            "This encoder" if with_answer else name,
            purpose(encoder),
            answer(subject.record) if with_answer else "",
        )
        session_encoders.say_on_cpu(name)
        if subject.left_out_phrase:
            st.caption(
                f"The text is too long for the encoder, which leaves out the {subject.left_out_phrase}."
            )
        say_unknown(subject, is_said=is_said and with_answer and bool(unknown_sentence(subject.record)))
        for note in encoder.notes:
            st.caption(plain(note))
        return subject


def choose_encoder() -> str | None:
    """Draws the choice of the kind of input and of the encoder, without an input; returns the encoder's name, None if there is
    none.
    """
    if (kind := _choose_kind(with_record=False)) == encoders.RECORD:
        stop(NO_ENCODER)
    name = _choose_encoder(kind)
    say_gone(name)
    return name


def choose_usable_encoder(controls: DeltaGenerator) -> Checkpoint:
    """As `choose_encoder`, drawn in `controls`; ends the page with a sentence if there is no encoder, or it cannot be used."""
    with controls:
        name = choose_encoder()
    if name is None:
        stop("There is no encoder for this kind of input.")
    try:
        loaded(name)
    except (ValueError, OSError) as error:
        stop(f"The encoder {name} cannot be used ({plain(str(error))}). Choose another one.")
    session_encoders.say_on_cpu(name)
    return Checkpoint(name)


def stop(message: str) -> NoReturn:
    """Writes a sentence and ends the page."""
    st.info(message, icon=":material/info:")
    st.stop()


def _choose_kind(*, with_record: bool) -> str:
    """Draws the choice of the kind of input. Pictures in colour are offered if an encoder that reads them is open; a record is
    offered if `with_record`, or if it is chosen already.
    """
    kinds = [kind for kind in KIND.options or () if kind != encoders.PICTURE or encoders.checkpoints(kind)]
    if not with_record and (KIND.held() or st.query_params.get(KIND.key)) != encoders.RECORD:
        kinds.remove(encoders.RECORD)
    kind = KIND.choose(kinds, on_change=_change_kind)
    draw_heading_again()
    remember_choice(kind)
    return kind


def _choose_encoder(kind: str) -> str | None:
    """Draws the list of encoders; returns the chosen name, None if there is none.

    Encoders that differ only in their seed are one entry, with a second list for the seed.
    """
    seeds = group_by_seed(encoders.checkpoints(kind))
    current = CHECKPOINT.held() or st.query_params.get("checkpoint")
    options = [current if current in names else names[0] for names in seeds.values()]
    # Not by a shorter name: the address holds what stands in the box, and must say the seed.
    name = CHECKPOINT.choose(options, gone=similar_encoder)
    if name is not None and len(names := seeds[split_seed(name)[0]]) > 1:
        st.session_state["seed"] = name
        st.selectbox(
            "Seed",
            names,
            key="seed",
            format_func=lambda name: f"seed {split_seed(name)[1]}",
            on_change=_take_seed,
            help="The same recipe with other random numbers: what differs between two seeds is chance.",
            width=100,
            label_visibility="collapsed",
        )
    return name


def _take_seed() -> None:
    CHECKPOINT.take(st.session_state["seed"])


def _change_kind() -> None:
    """Callback: chooses the head that was last chosen in this kind of input, or lets a rule choose one."""
    st.session_state[OTHER_KIND] = True
    drawing.leave()


def similar_encoder(held: str | None, names: Sequence[str]) -> str | None:
    """Replacement for the encoder `held` after the kind of input changed: the first of `names` with the same norm placement, or
    else the first.
    """
    similar_names = [name for name in names if held and _placement_in_name(name) == _placement_in_name(held)]
    return next(iter([*similar_names, *names]), None)


def _placement_in_name(name: str) -> str:
    """Norm placement in the name, such as "pre-ln" in "mnist-pre-ln-seed1"."""
    return split_seed(name)[0].partition("-")[2]


def _draw_description(loaded: Loaded, n_parameters: int) -> None:
    """Draws a button that opens a description of the encoder with its accuracies."""
    config = loaded.config
    published = loaded.history.get("recipe", {}).get("published")
    with st.popover("About the encoder", icon=":material/info:", type="tertiary", key="about_encoder"):
        st.caption(
            f"{n_parameters:,} parameters  \n{PLACEMENTS[config.norm_placement]}, "
            f"{counted(config.n_layers, 'layer')} × {counted(config.n_heads, 'head')}  \n"
            + _seed_line(loaded.name)
            + (f"reference accuracy: {plain(published)}  \n" if published else "")
            + f"runs on {loaded.device.type.upper()}"
        )
        if figures := all_figures(loaded.history):
            st.caption("Accuracy, with its standard error:")
            # Not a data frame, which imports pandas: it stands before the prediction.
            st.markdown("\n".join(("| judged on | correct |", "|:--|:--|", *map(_accuracy_row, figures))))
            if notes := [
                note
                for name, note in _DATA_SET_DESCRIPTIONS.items()
                if any(name in figure["data"] for figure in figures)
            ]:
                st.caption(" ".join(notes))
        else:
            st.caption("Its accuracy was not measured.")
        st.caption(_ENCODER_HELP)


def _seed_line(name: str) -> str:
    """Line about the seed, if other encoders differ only in it; "" if none do."""
    same_recipe = group_by_seed(checkpoint.available()).get(split_seed(name)[0], ())
    if len(same_recipe) < 2 or name not in same_recipe:
        return ""
    return f"seed {split_seed(name)[1]}: one of {len(same_recipe)} encoders that differ only in the random numbers of their training  \n"


def _accuracy_row(figures: Figures) -> str:
    """A Markdown row for one data set: number of examples and name, and the accuracy in percent with its standard error."""
    p, n = figures["accuracy"], figures["n"]
    return f"| {n:,} {plain(' '.join(figures['data'].split()))} | {percent_with_error(p, standard_error(p, n))} |"


def say_unknown(
    subject: LiveSubject, *, before: str = "", box: TextBox = TEXT, is_said: bool = False
) -> None:
    """Writes how many tokens are unknown, after the words `before`, unless that `is_said` elsewhere. If the encoder would know
    separate characters, also draws a button that puts spaces between them; `box` is the control of the text.
    """
    if not subject.unknown_phrase or not isinstance(subject.model_input, Text):
        return
    with st.container(horizontal=True, vertical_alignment="center", key=f"unknown_{box.key}"):
        if not is_said:
            st.caption(f"{before}{subject.unknown_phrase}.", width="content")
        if (separated := _with_spaces_between(subject.checkpoint, subject.model_input)) is not None:
            st.button(
                "Separate the characters",
                key=f"separate_{box.key}",
                on_click=_take_separated,
                args=(separated, box),
                help="Puts a space between the characters: this tokenizer knows single characters alone.",
            )


def _take_separated(separated: Text, box: TextBox) -> None:
    """Callback: puts `separated`, a text with spaces between its characters, into `box`, and its second part into the second box."""
    box.take(separated.text[:LONGEST])
    if separated.second is not None:
        SECOND_PART.take(separated.second[:LONGEST])


def _with_spaces_between(name: Checkpoint, model_input: Text) -> Text | None:
    """The text with spaces between its characters if more of its tokens are known then; else None."""
    if not _has_single_character_vocabulary(name):
        return None
    tokenizer = loaded(name).tokenizer
    assert tokenizer is not None, name
    second = model_input.second and space_out_characters(tokenizer, model_input.second)
    separated = Text(space_out_characters(tokenizer, model_input.text), second)
    old, new = (encoded_text(name, text) for text in (model_input, separated))
    is_better = new.n_unknown * old.n_read < old.n_unknown * new.n_read
    return separated if is_better else None


@cached
def _has_single_character_vocabulary(name: Checkpoint) -> bool:
    tokenizer = loaded(name).tokenizer
    return tokenizer is not None and has_character_vocabulary(tokenizer)
