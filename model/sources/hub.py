"""Encoders of the Hugging Face Hub: those in its cache on this machine, and downloads into the cache, if allowed.

Only the files from which an encoder is read are downloaded, by their names; weights only as safetensors. No access token is
sent, so private models are not downloaded. https://huggingface.co/docs/huggingface_hub/guides/download
"""

import hashlib
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

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
from huggingface_hub.utils import validate_repo_id

from ..files.encoder_files import BESIDE, CONFIG, INDEX, UNREAD_WEIGHTS, WEIGHTS, shard_names
from ..files.errors import error_text
from ..files.json_file import LARGEST_JSON
from ..huggingface.inner_encoders import with_inner_names
from .names import HUB, Listing, printable_name

# the parts of a sentence-transformers folder, such as 1_Pooling/config.json and 2_Dense/model.safetensors
PART_OF_SENTENCE_ENCODER = re.compile(r"\d_[A-Za-z]+/(config\.json|model\.safetensors)", re.ASCII)
REVISION = re.compile(r"[\w][\w./-]{0,99}", re.ASCII)
LARGEST = 4 * 2**30  # bytes of all files of an encoder
GB, MB = 10**9, 10**6
PATIENCE = 10  # seconds until the Hub must answer
AT_ONCE = 2**20  # bytes
Report = Callable[[str, int, int], None]  # name of the file, bytes of all files that are here, bytes of all


class ListedFile(NamedTuple):
    """Name, size in bytes and hash of a file to download, as the Hub lists them."""

    name: str
    size: int
    sha256: str | None  # of large files
    blob: str | None  # git's hash, of small ones


# The cache


def cache_root() -> Path:
    return Path(constants.HF_HUB_CACHE).expanduser().resolve()


def cached_models() -> Listing:
    """The models in the cache, found without the network, with a sentence for each model that cannot be opened."""
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


def download(
    name: str,
    revision: str | None = None,
    *,
    report: Report = lambda *_: None,
    at_most: int = LARGEST,
    endpoint: str | None = None,
) -> str:
    """Downloads the files of an encoder into the cache, and returns the encoder's name in this app.

    Each file is compared with its hash, and `config.json` is downloaded last, so that an interrupted or altered download
    cannot be opened. Raises ValueError, with a one-sentence message, for every kind of failure.
    """
    try:
        commit, listed_files = _list_files(name, revision, endpoint)
        fetch = _Downloader(name, commit, endpoint, report)
        weights = [WEIGHTS]
        if WEIGHTS not in listed_files:
            if INDEX not in listed_files:
                raise ValueError(_no_safetensors_message(name, listed_files))
            index_files = _select_files(name, listed_files, [INDEX])
            if index_files[0].size > LARGEST_JSON:
                raise ValueError(f"the {INDEX} of {name} is too large")
            weights = [INDEX, *shard_names(fetch(index_files[0]))]
        if CONFIG not in listed_files:
            raise ValueError(f"{name} has no {CONFIG}, so it cannot be opened here")
        modules = [file for file in listed_files if PART_OF_SENTENCE_ENCODER.fullmatch(file)]
        other_files = [file for file in BESIDE if file in listed_files]
        files_to_fetch = _select_files(name, listed_files, [*weights, *modules, *other_files, CONFIG])
        if (n_bytes := sum(file.size for file in files_to_fetch)) > at_most:
            size_text = f"{n_bytes / GB:.1f} GB; at most {at_most / GB:.1f} GB are downloaded here"
            raise ValueError(f"{name} is {size_text}")
        fetch.n_bytes_done, fetch.n_bytes_total = 0, n_bytes
        for file in files_to_fetch[:-1]:
            fetch(file)
        fetch(files_to_fetch[-1], revision or "main")
    except GatedRepoError as error:
        raise ValueError(_gated_message(name)) from error
    except RevisionNotFoundError as error:
        raise ValueError(f"{name} has no revision {printable_name(revision or 'main')}") from error
    except RepositoryNotFoundError as error:
        raise ValueError(f"the Hub has no public model {name}") from error
    except OfflineModeIsEnabled as error:
        raise ValueError("HF_HUB_OFFLINE is set, so nothing is downloaded") from error
    except HfHubHTTPError as error:
        raise ValueError(f"the Hub refused {name} with HTTP status {error.response.status_code}") from error
    except LocalEntryNotFoundError as error:
        raise ValueError(f"the download of {name} is incomplete: the Hub stopped answering") from error
    except HTTPError as error:
        raise ValueError("the Hub cannot be reached: there is no network, or it does not answer") from error
    except OSError as error:
        is_cut_off = "Consistency check failed" in str(error)
        reason = "a file was cut off" if is_cut_off else error_text(error)
        raise ValueError(f"the download of {name} is incomplete: {reason}") from error
    return f"{HUB}{name}" if revision in (None, "main") else f"{HUB}{name}@{commit[:8]}"


def _list_files(name: str, revision: str | None, endpoint: str | None) -> tuple[str, dict[str, Any]]:
    """The commit hash of a revision, and the Hub's entries for its files, by file name."""
    try:
        info = HfApi(endpoint=endpoint, token=False).model_info(
            name, revision=revision, files_metadata=True, timeout=PATIENCE
        )
        commit, listed_files = str(info.sha), {file.rfilename: file for file in info.siblings or ()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        if isinstance(error, HTTPError):
            raise
        raise ValueError(f"the Hub's answer about {name} cannot be read") from error
    if info.gated:
        raise ValueError(_gated_message(name))
    if not re.fullmatch("[0-9a-f]{40}", commit):
        raise ValueError(f"the Hub's answer about {name} cannot be read")
    return commit, listed_files


class _Downloader:
    """Downloads files one after the other, and reports the number of bytes so far and in total."""

    def __init__(self, name: str, commit: str, endpoint: str | None, report: Report) -> None:
        self._name, self._commit, self._endpoint, self._report = name, commit, endpoint, report
        self.n_bytes_done = self.n_bytes_total = 0

    def __call__(self, file: ListedFile, revision: str | None = None) -> Path:
        """Downloads a file and returns its path in the cache. Raises ValueError if its size or hash is not that which the
        Hub lists.
        """
        fetch = self

        class ProgressBar:
            """Replaces tqdm's progress bar, whose `update` huggingface_hub calls with the bytes that have arrived."""

            def __init__(self, *_: Any, initial: int = 0, **__: Any) -> None:
                self.n: float = initial

            def __enter__(self) -> "ProgressBar":
                return self

            def __exit__(self, *_: object) -> None:
                pass

            def update(self, n: int | float | None = 1) -> None:
                self.n += n or 0
                if self.n > file.size:
                    raise ValueError(f"{file.name} of {fetch._name} is larger than the Hub says")
                fetch._report(file.name, fetch.n_bytes_done + int(self.n), fetch.n_bytes_total)

            def close(self) -> None:
                pass

            def set_postfix_str(self, *_: Any, **__: Any) -> None:
                pass

        self._report(file.name, self.n_bytes_done, self.n_bytes_total)
        path = Path(
            hf_hub_download(
                self._name,
                file.name,
                revision=revision or self._commit,
                endpoint=self._endpoint,
                token=False,
                etag_timeout=PATIENCE,
                tqdm_class=ProgressBar,
            )
        )
        if path.stat().st_size != file.size or not _has_listed_hash(path, file):
            path.resolve().unlink()
            path.unlink(missing_ok=True)
            raise ValueError(
                f"{file.name} of {self._name} is not the file that the Hub lists: its hash differs"
            )
        self.n_bytes_done += file.size
        return path


def _select_files(name: str, listed_files: dict[str, Any], names: Iterable[str]) -> list[ListedFile]:
    """The files with these `names`. Raises ValueError if the Hub does not list a file, or not its size and hash."""
    selected_files = []
    for file_name in names:
        if file_name not in listed_files:
            raise ValueError(f"{name} lacks {printable_name(file_name)}, which its {INDEX} names")
        file = listed_files[file_name]
        sha256 = file.lfs.sha256 if file.lfs else None
        if not isinstance(file.size, int) or not (sha256 or file.blob_id):
            raise ValueError(f"the Hub does not say how large {file_name} of {name} is")
        selected_files.append(ListedFile(file_name, file.size, sha256, file.blob_id))
    return selected_files


def _has_listed_hash(path: Path, file: ListedFile) -> bool:
    """Whether the content of `path` has the listed hash: SHA-256, or git's blob hash for small files."""
    if file.sha256:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest() == file.sha256
    content = path.read_bytes()
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest() == file.blob


def _no_safetensors_message(name: str, listed_files: Iterable[str]) -> str:
    unread_files = sorted(file for file in listed_files if file.endswith(UNREAD_WEIGHTS) and "/" not in file)
    message = f"{name} has no {WEIGHTS}"
    return (
        f"{message}, only {printable_name(', '.join(unread_files[:3]))}, which is not read here"
        if unread_files
        else message
    )


def _gated_message(name: str) -> str:
    return (
        f"{name} is gated: run `hf download {name}` with an account that has access, "
        "and it appears in the list of the cache"
    )
