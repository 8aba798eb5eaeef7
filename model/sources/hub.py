"""The Hugging Face Hub: what is in its cache on this machine, and, where that is allowed, downloads into it.

Only the files that an encoder is read from are fetched, by their names; weights as safetensors alone. No token is sent:
what only its owner may read is not shown to others. https://huggingface.co/docs/huggingface_hub/guides/download
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
from ..files.errors import why
from ..files.json_file import LARGEST_JSON
from .names import HUB, Listing, as_shown

# the parts of a sentence-transformers folder, such as 1_Pooling/config.json and 2_Dense/model.safetensors
PART_OF_SENTENCE_ENCODER = re.compile(r"\d_[A-Za-z]+/(config\.json|model\.safetensors)", re.ASCII)
REVISION = re.compile(r"[\w][\w./-]{0,99}", re.ASCII)
LARGEST = 4 * 2**30  # bytes of all files of an encoder
GB, MB = 10**9, 10**6
PATIENCE = 10  # seconds until the Hub must answer
AT_ONCE = 2**20  # bytes
Report = Callable[[str, int, int], None]  # name of the file, bytes of all files that are here, bytes of all


class Needed(NamedTuple):
    """A file that an encoder is read from, as the Hub lists it."""

    name: str
    size: int
    sha256: str | None  # of large files
    blob: str | None  # git's hash, of small ones


# The cache


def cache_root() -> Path:
    return Path(constants.HF_HUB_CACHE).expanduser().resolve()


def cached() -> Listing:
    """The models in the cache that can be opened, and in one sentence each, why others cannot; no network is used."""
    try:
        cache = scan_cache_dir(cache_root())
    except (CacheNotFound, ValueError, OSError):
        return Listing()
    names, without = [], []
    for repo in cache.repos:
        if repo.repo_type != "model":
            continue
        whole = [revision for revision in repo.revisions if _is_whole(revision.snapshot_path)]
        for revision in whole:
            commit = "" if "main" in revision.refs else f"@{revision.commit_hash[:8]}"
            names.append(f"{HUB}{repo.repo_id}{commit}")
        if not whole and any((revision.snapshot_path / CONFIG).is_file() for revision in repo.revisions):
            without.append(repo.repo_id)
    refused = [f"{as_shown(name)} is in the cache, but without {WEIGHTS}" for name in sorted(without)]
    return Listing(names=tuple(sorted(names)), refused=tuple(refused))


def snapshot(name: str) -> Path:
    """The folder in the cache of `owner/name`, or of `owner/name@commit`.

    Raises FileNotFoundError, in one sentence, where the cache does not hold it whole.
    """
    gone = FileNotFoundError(f"{as_shown(name)} is not in the Hugging Face cache of this machine")
    repo, _, commit = name.partition("@")
    try:
        validate_repo_id(repo)
        home = cache_root() / repo_folder_name(repo_id=repo, repo_type="model")
        commit = commit or (home / "refs" / "main").read_text(encoding="utf-8").strip()
        if not re.fullmatch(r"[0-9a-f]{7,40}", commit):
            raise gone
        snapshots = [path for path in (home / "snapshots").iterdir() if path.name.startswith(commit)]
    except (HFValidationError, OSError, UnicodeError) as error:
        raise gone from error
    if len(snapshots) != 1 or not _is_whole(snapshots[0]):
        raise gone
    return snapshots[0]


def _is_whole(folder: Path) -> bool:
    """Whether configuration and all files of weights are there: a download that was cut off lacks some."""
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
    """The name of a model and its revision (None for the branch main) in a typed name or address.

    Raises ValueError, in one sentence, where it is neither.
    """
    text = text.strip().removeprefix(HUB)
    for front in ("https://huggingface.co/", "huggingface.co/", "https://hf.co/", "hf.co/"):
        text = text.removeprefix(front)
    name, _, revision = text.replace("/tree/", "@", 1).strip("/").partition("@")
    wrong = f"{as_shown(text) or 'this'} is not the name of a model: write owner/name, or owner/name@revision"
    try:
        validate_repo_id(name)
    except HFValidationError as error:
        raise ValueError(wrong) from error
    if not name or (revision and (not REVISION.fullmatch(revision) or ".." in revision)):
        raise ValueError(wrong)
    return name, revision or None


def download(
    name: str,
    revision: str | None = None,
    *,
    report: Report = lambda *_: None,
    at_most: int = LARGEST,
    endpoint: str | None = None,
) -> str:
    """Downloads the files of an encoder into the cache, and returns its name there.

    `config.json`, which is read first, comes last, and every file is compared with its hash: a download that was cut off,
    or differs from the Hub's list, leaves nothing that opens. Raises ValueError, in one sentence, whatever goes wrong.
    """
    try:
        commit, listed = _listed(name, revision, endpoint)
        fetch = _Fetch(name, commit, endpoint, report)
        weights = [WEIGHTS]
        if WEIGHTS not in listed:
            if INDEX not in listed:
                raise ValueError(_without_safetensors(name, listed))
            index = _needed(name, listed, [INDEX])
            if index[0].size > LARGEST_JSON:
                raise ValueError(f"the {INDEX} of {name} is too large")
            weights = [INDEX, *shard_names(fetch(index[0]))]
        if CONFIG not in listed:
            raise ValueError(f"{name} has no {CONFIG}, so it cannot be opened here")
        modules = [file for file in listed if PART_OF_SENTENCE_ENCODER.fullmatch(file)]
        beside = [file for file in BESIDE if file in listed]
        needed = _needed(name, listed, [*weights, *modules, *beside, CONFIG])
        if (total := sum(file.size for file in needed)) > at_most:
            sizes = f"{total / GB:.1f} GB; at most {at_most / GB:.1f} GB are downloaded here"
            raise ValueError(f"{name} is {sizes}")
        fetch.done, fetch.total = 0, total
        for file in needed[:-1]:
            fetch(file)
        fetch(needed[-1], revision or "main")
    except GatedRepoError as error:
        raise ValueError(_gated(name)) from error
    except RevisionNotFoundError as error:
        raise ValueError(f"{name} has no revision {as_shown(revision or 'main')}") from error
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
        cut_off = "Consistency check failed" in str(error)
        reason = "a file was cut off" if cut_off else why(error)
        raise ValueError(f"the download of {name} is incomplete: {reason}") from error
    return f"{HUB}{name}" if revision in (None, "main") else f"{HUB}{name}@{commit[:8]}"


def _listed(name: str, revision: str | None, endpoint: str | None) -> tuple[str, dict[str, Any]]:
    """The commit of a revision, and its files as the Hub lists them, by name."""
    try:
        info = HfApi(endpoint=endpoint, token=False).model_info(
            name, revision=revision, files_metadata=True, timeout=PATIENCE
        )
        commit, listed = str(info.sha), {file.rfilename: file for file in info.siblings or ()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        if isinstance(error, HTTPError):
            raise
        raise ValueError(f"the Hub's answer about {name} cannot be read") from error
    if info.gated:
        raise ValueError(_gated(name))
    if not re.fullmatch("[0-9a-f]{40}", commit):
        raise ValueError(f"the Hub's answer about {name} cannot be read")
    return commit, listed


class _Fetch:
    """Fetches one file after the other, and reports how far all of them are."""

    def __init__(self, name: str, commit: str, endpoint: str | None, report: Report) -> None:
        self._name, self._commit, self._endpoint, self._report = name, commit, endpoint, report
        self.done = self.total = 0

    def __call__(self, file: Needed, revision: str | None = None) -> Path:
        """The path of the file in the cache. Raises ValueError where it is another file than the Hub lists."""
        fetch = self

        class Bar:
            """Stands in for tqdm's progress bar, to which huggingface_hub reports the bytes of a file as they arrive."""

            def __init__(self, *_: Any, initial: int = 0, **__: Any) -> None:
                self.n: float = initial

            def __enter__(self) -> "Bar":
                return self

            def __exit__(self, *_: object) -> None:
                pass

            def update(self, n: int | float | None = 1) -> None:
                self.n += n or 0
                if self.n > file.size:
                    raise ValueError(f"{file.name} of {fetch._name} is larger than the Hub says")
                fetch._report(file.name, fetch.done + int(self.n), fetch.total)

            def close(self) -> None:
                pass

            def set_postfix_str(self, *_: Any, **__: Any) -> None:
                pass

        self._report(file.name, self.done, self.total)
        path = Path(
            hf_hub_download(
                self._name,
                file.name,
                revision=revision or self._commit,
                endpoint=self._endpoint,
                token=False,
                etag_timeout=PATIENCE,
                tqdm_class=Bar,
            )
        )
        if path.stat().st_size != file.size or not _is_listed(path, file):
            path.resolve().unlink()
            path.unlink(missing_ok=True)
            raise ValueError(
                f"{file.name} of {self._name} is not the file that the Hub lists: its hash differs"
            )
        self.done += file.size
        return path


def _needed(name: str, listed: dict[str, Any], names: Iterable[str]) -> list[Needed]:
    """The files of these names. Raises ValueError where the Hub does not list one, or not its size and hash."""
    needed = []
    for file_name in names:
        if file_name not in listed:
            raise ValueError(f"{name} lacks {as_shown(file_name)}, which its {INDEX} names")
        file = listed[file_name]
        sha256 = file.lfs.sha256 if file.lfs else None
        if not isinstance(file.size, int) or not (sha256 or file.blob_id):
            raise ValueError(f"the Hub does not say how large {file_name} of {name} is")
        needed.append(Needed(file_name, file.size, sha256, file.blob_id))
    return needed


def _is_listed(path: Path, file: Needed) -> bool:
    """Whether the content has the listed hash: SHA-256, or of small files the hash that git gives them."""
    if file.sha256:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest() == file.sha256
    content = path.read_bytes()
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest() == file.blob


def _without_safetensors(name: str, listed: Iterable[str]) -> str:
    others = sorted(file for file in listed if file.endswith(UNREAD_WEIGHTS) and "/" not in file)
    missing = f"{name} has no {WEIGHTS}"
    return f"{missing}, only {as_shown(', '.join(others[:3]))}, which is not read here" if others else missing


def _gated(name: str) -> str:
    return (
        f"{name} is gated: run `hf download {name}` with an account that has access, "
        "and it appears in the list of the cache"
    )
