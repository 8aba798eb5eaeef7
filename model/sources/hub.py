"""Encoders of the Hugging Face Hub: those in its cache on this machine, and downloads into the cache, if allowed.

Only the files from which an encoder is read are downloaded, by their names; weights only as safetensors. No access token is
sent, so private models are not downloaded. https://huggingface.co/docs/huggingface_hub/guides/download
"""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from huggingface_hub import HfApi, constants, hf_hub_download, scan_cache_dir
from huggingface_hub.errors import (
    CacheNotFound,
    GatedRepoError,
    HfHubHTTPError,
    HFValidationError,
    HTTPError,
    LocalEntryNotFoundError,
    OfflineModeIsEnabled,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from huggingface_hub.file_download import repo_folder_name
from huggingface_hub.utils import tqdm, validate_repo_id
from huggingface_hub.utils.sha import git_hash, sha_fileobj

from ..files.content import LARGEST_JSON
from ..files.encoder_files import BESIDE, CONFIG, INDEX, UNREAD_WEIGHTS, WEIGHTS, shard_names
from ..files.errors import error_text
from ..huggingface.inner_encoders import with_inner_names
from .names import HUB, Listing, printable_name

# the parts of a sentence-transformers folder, such as 1_Pooling/config.json and 2_Dense/model.safetensors
PART_OF_SENTENCE_ENCODER = re.compile(r"\d_[A-Za-z]+/(config\.json|model\.safetensors)", re.ASCII)
REVISION = re.compile(r"[\w][\w./-]{0,99}", re.ASCII)
LARGEST = 4 * 2**30  # bytes of all files of an encoder
GB, MB = 10**9, 10**6
PATIENCE = 10  # seconds until the Hub must answer
Report = Callable[[str, int, int], None]  # name of the file, bytes of all files that are here, bytes of all


# The cache


def cache_root() -> Path:
    """The folder of the Hugging Face cache on this machine."""
    return Path(constants.HF_HUB_CACHE).expanduser().resolve()


def cached_models() -> Listing:
    """The encoders in the cache, found without the network, and a sentence for each model that cannot be opened."""
    try:
        cache = scan_cache_dir(cache_root())
    except (CacheNotFound, ValueError, OSError):
        return Listing()
    names: list[str] = []
    incomplete: list[str] = []
    for repo in cache.repos:
        if repo.repo_type != "model":
            continue
        complete_revisions = [revision for revision in repo.revisions if _is_complete(revision.snapshot_path)]
        for revision in complete_revisions:
            commit = "" if "main" in revision.refs else f"@{revision.commit_hash[:8]}"
            names += with_inner_names(f"{HUB}{repo.repo_id}{commit}", revision.snapshot_path)
        if not complete_revisions and any(
            (revision.snapshot_path / CONFIG).is_file() for revision in repo.revisions
        ):
            incomplete.append(repo.repo_id)
    refused = [
        f"{printable_name(name)} is in the cache, but without {WEIGHTS}" for name in sorted(incomplete)
    ]
    return Listing(names=tuple(sorted(names)), refused=tuple(refused))


def snapshot(name: str) -> Path:
    """The cached folder of the model `owner/name` or `owner/name@commit`.

    Raises FileNotFoundError, with a one-sentence message, if the cache does not hold all its files.
    """
    missing_error = FileNotFoundError(
        f"{printable_name(name)} is not in the Hugging Face cache of this machine"
    )
    repo_id, _, commit = name.partition("@")
    try:
        validate_repo_id(repo_id)
        repo_folder = cache_root() / repo_folder_name(repo_id=repo_id, repo_type="model")
        commit = commit or (repo_folder / "refs" / "main").read_text(encoding="utf-8").strip()
        if not re.fullmatch(r"[0-9a-f]{7,40}", commit):
            raise missing_error
        snapshots = [path for path in (repo_folder / "snapshots").iterdir() if path.name.startswith(commit)]
    except (HFValidationError, OSError, UnicodeError) as error:
        raise missing_error from error
    if len(snapshots) != 1 or not _is_complete(snapshots[0]):
        raise missing_error
    return snapshots[0]


def cached_name(name: str, revision: str | None) -> str | None:
    """The name by which this app opens the cached model `owner/name` at a branch, tag or commit, such as "hub:owner/name".

    None if the cache does not hold all its files.
    """
    commit = None
    if revision not in (None, "main"):
        reference = cache_root() / repo_folder_name(repo_id=name, repo_type="model") / "refs" / revision
        commit = reference.read_text(encoding="utf-8").strip() if reference.is_file() else revision
    try:
        snapshot(f"{name}@{commit}" if commit else name)
    except FileNotFoundError:
        return None
    return f"{HUB}{name}@{commit[:8]}" if commit else f"{HUB}{name}"


def _is_complete(folder: Path) -> bool:
    """Whether a folder holds its configuration and all its weight files, some of which an interrupted download lacks."""
    if not (folder / CONFIG).is_file():
        return False
    if (folder / WEIGHTS).is_file():
        return True
    try:
        return all((folder / shard).is_file() for shard in shard_names(folder / INDEX))
    except ValueError:
        return False


# From the Hub


def parse_name(text: str) -> tuple[str, str | None]:
    """The name of a model and its revision (None for the branch main), parsed from a name or a URL of the Hub.

    Raises ValueError, with a one-sentence message, if `text` is neither a name nor a URL.
    """
    text = text.strip().removeprefix(HUB)
    for prefix in ("https://huggingface.co/", "huggingface.co/", "https://hf.co/", "hf.co/"):
        text = text.removeprefix(prefix)
    name, _, revision = text.replace("/tree/", "@", 1).strip("/").partition("@")
    message = f"{printable_name(text) or 'this'} is not the name of a model: write owner/name, or owner/name@revision"
    try:
        validate_repo_id(name)
    except HFValidationError as error:
        raise ValueError(message) from error
    if not name or (revision and (not REVISION.fullmatch(revision) or ".." in revision)):
        raise ValueError(message)
    return name, revision or None


# A sentence for each failure of a download, the narrower kinds first.
_FAILURES: tuple[tuple[type[Exception], str], ...] = (
    (
        GatedRepoError,
        "{name} is gated: run `hf download {name}` with an account that has access, and it appears in the list of the cache",
    ),
    (RevisionNotFoundError, "{name} has no revision {revision}"),
    (RepositoryNotFoundError, "the Hub has no public model {name}"),
    (OfflineModeIsEnabled, "HF_HUB_OFFLINE is set, so nothing is downloaded"),
    (HfHubHTTPError, "the Hub refused {name} with HTTP status {error.response.status_code}"),
    (LocalEntryNotFoundError, "the download of {name} is incomplete: the Hub stopped answering"),
    (HTTPError, "the Hub cannot be reached: there is no network, or it does not answer"),
    (OSError, "the download of {name} is incomplete: {reason}"),
)


def download(
    name: str,
    revision: str | None = None,
    *,
    report: Report = lambda *_: None,
    endpoint: str | None = None,
) -> str:
    """Downloads the files of an encoder into the cache, and returns the name by which this app opens it.

    `report` is called with the file's name, the bytes downloaded so far and the bytes of all files.
    Each file is compared with its hash, and `config.json` is downloaded last, so that an interrupted or altered download
    cannot be opened. Raises ValueError, with a one-sentence message, for every kind of failure.
    """
    try:
        commit, files = _list_files(name, revision, endpoint)
        fetch = partial(_fetch, name, commit, endpoint)
        weights = [WEIGHTS]
        if WEIGHTS not in files:
            if INDEX not in files:
                raise ValueError(_no_safetensors_message(name, files))
            if _checked_size(name, files, INDEX) > LARGEST_JSON:
                raise ValueError(f"the {INDEX} of {name} is too large")
            weights = [INDEX, *shard_names(fetch(files[INDEX], report))]
        if CONFIG not in files:
            raise ValueError(f"{name} has no {CONFIG}, so it cannot be opened here")
        modules = [file for file in files if PART_OF_SENTENCE_ENCODER.fullmatch(file)]
        names = [*weights, *modules, *(file for file in BESIDE if file in files), CONFIG]
        if (n_bytes := sum(_checked_size(name, files, file) for file in names)) > LARGEST:
            raise ValueError(
                f"{name} is {n_bytes / GB:.1f} GB; at most {LARGEST / GB:.1f} GB are downloaded here"
            )
        n_done = 0
        for file in names:
            is_last = file == CONFIG  # which also notes the commit of the revision
            fetch(files[file], report, n_done, n_bytes, (revision or "main") if is_last else None)
            n_done += files[file].size
    except tuple(kind for kind, _ in _FAILURES) as error:
        sentence = next(sentence for kind, sentence in _FAILURES if isinstance(error, kind))
        is_cut_off = "Consistency check failed" in str(error)
        reason = "a file was cut off" if is_cut_off else error_text(error)
        shown = printable_name(revision or "main")
        raise ValueError(sentence.format(name=name, revision=shown, error=error, reason=reason)) from error
    return f"{HUB}{name}" if revision in (None, "main") else f"{HUB}{name}@{commit[:8]}"


def _list_files(name: str, revision: str | None, endpoint: str | None) -> tuple[str, dict[str, Any]]:
    """The commit hash of a revision, and the Hub's entries for its files, by file name."""
    nonsense = f"the Hub's answer about {name} cannot be read"
    try:
        info = HfApi(endpoint=endpoint, token=False).model_info(
            name, revision=revision, files_metadata=True, timeout=PATIENCE
        )
        commit, files = str(info.sha), {file.rfilename: file for file in info.siblings or ()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        if isinstance(error, HTTPError):
            raise
        raise ValueError(nonsense) from error
    if info.gated:
        raise ValueError(_FAILURES[0][1].format(name=name))
    if not re.fullmatch("[0-9a-f]{40}", commit):
        raise ValueError(nonsense)
    return commit, files


def _fetch(
    name: str,
    commit: str,
    endpoint: str | None,
    file: Any,
    report: Report,
    n_done: int = 0,
    n_bytes: int = 0,
    revision: str | None = None,
) -> Path:
    """Downloads `file`, an entry of `_list_files`, and returns its path in the cache.

    For `report`, `n_done` of all `n_bytes` have been downloaded before. Raises ValueError if the file's size or hash is not
    that of the entry.
    """

    class DownloadProgress(tqdm):
        """In place of the Hub's progress bar: calls `report` with the bytes received so far, and draws nothing."""

        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **{**options, "disable": True})

        def update(self, n: int | float | None = 1) -> None:
            self.n += n or 0
            if self.n > file.size:
                raise ValueError(f"{file.rfilename} of {name} is larger than the Hub says")
            report(file.rfilename, n_done + int(self.n), n_bytes)

    report(file.rfilename, n_done, n_bytes)
    path = Path(
        hf_hub_download(
            name,
            file.rfilename,
            revision=revision or commit,
            endpoint=endpoint,
            token=False,
            etag_timeout=PATIENCE,
            tqdm_class=DownloadProgress,
        )
    )
    with path.open("rb") as content:
        digest = sha_fileobj(content).hex() if file.lfs else git_hash(content.read(file.size + 1))
    if path.stat().st_size != file.size or digest != (file.lfs.sha256 if file.lfs else file.blob_id):
        path.resolve().unlink()
        path.unlink(missing_ok=True)
        raise ValueError(f"{file.rfilename} of {name} is not the file that the Hub lists: its hash differs")
    return path


def _checked_size(name: str, files: Mapping[str, Any], file_name: str) -> int:
    """The size of a file in bytes. Raises ValueError if the Hub does not list it, or not its size and hash."""
    if file_name not in files:
        raise ValueError(f"{name} lacks {printable_name(file_name)}, which its {INDEX} names")
    file = files[file_name]
    if not isinstance(file.size, int) or not (file.lfs.sha256 if file.lfs else file.blob_id):
        raise ValueError(f"the Hub does not say how large {file_name} of {name} is")
    return file.size


def _no_safetensors_message(name: str, files: Iterable[str]) -> str:
    unread_files = sorted(file for file in files if file.endswith(UNREAD_WEIGHTS) and "/" not in file)
    message = f"{name} has no {WEIGHTS}"
    return (
        f"{message}, only {printable_name(', '.join(unread_files[:3]))}, which is not read here; "
        "`attention-loupe convert FOLDER` makes safetensors of a pickle that you trust"
        if unread_files
        else message
    )
