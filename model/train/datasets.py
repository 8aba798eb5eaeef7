"""Reads the data sets from a folder; those that are published as files are downloaded into it."""

import hashlib
import tarfile
import urllib.request
from pathlib import Path
from typing import NamedTuple

import pandas as pd
from tqdm import tqdm


class Download(NamedTuple):
    """A file to download, with the checksum that its publisher or torchvision gives."""

    url: str
    md5: str

    @property
    def name(self) -> str:
        """Name of the file."""
        return self.url.rpartition("/")[2]


_MNIST = "https://ossci-datasets.s3.amazonaws.com/mnist/"
MNIST = (
    Download(_MNIST + "train-images-idx3-ubyte.gz", "f68b3c2dcbeaaa9fbdd348bbdeb94873"),
    Download(_MNIST + "train-labels-idx1-ubyte.gz", "d53e105ee54ea40749a09fcbcd1e9432"),
)
IMDB = Download(
    "https://ai.stanford.edu/~amaas/data/sentiment/aclImdb_v1.tar.gz", "7c2ac02c03563afcf9b574c7e56c153a"
)


def mnist_folder(folder: Path) -> Path:
    """Downloads those files of MNIST's training digits that `folder` lacks, and returns `folder`."""
    for source in MNIST:
        if not any(folder.rglob(f"{source.name.removesuffix('.gz')}*")):
            download(source, folder)
    return folder


def reviews(folder: Path) -> pd.DataFrame:
    """IMDB's 75,000 training reviews: columns text and label (0 negative, 1 positive, -1 unlabelled).

    They are sorted by their numbers, so that reviews of one film follow one another. They are read from `imdb_train.csv*`
    and `imdb_unsup.csv*`, or else from the published archive, which is downloaded if it is missing.
    """
    tables = [next(iter(sorted(folder.rglob(f"imdb_{split}.csv*"))), None) for split in ("train", "unsup")]
    if all(tables):
        table = pd.concat([pd.read_csv(path) for path in tables], ignore_index=True)
        return table[["text", "label"]]
    if not (folder / IMDB.name).exists():
        download(IMDB, folder)
    return _read_archive(folder / IMDB.name)


def phrases(folder: Path) -> pd.DataFrame:
    """Sentences and phrases of the Stanford Sentiment Treebank, from `sst.csv*` in `folder`.

    Columns: split (train, dev), sentence, whole (1 for a sentence), rating (0 very negative to 4 very positive), text.
    Raises FileNotFoundError if there is no such file.
    """
    return _read_table(folder, "sst", "the Stanford Sentiment Treebank").dropna(subset="text")


def edited_reviews(folder: Path) -> pd.DataFrame:
    """Reviews that people edited to reverse their sentiment, with their originals, from `edited_reviews.csv*` in `folder`.

    Columns: split (train, dev), pair, version (original, edited), label (0 negative, 1 positive), text. Raises
    FileNotFoundError if there is no such file.
    """
    return _read_table(folder, "edited_reviews", "counterfactually augmented reviews (Kaushik et al. 2020)")


def _read_table(folder: Path, name: str, data_set: str) -> pd.DataFrame:
    """The table in `name.csv*`, found in `folder` or its subfolders.

    Raises FileNotFoundError, which names the `data_set`, if the file is missing: the data set is published in another form,
    so that the user has to make the file.
    """
    path = next(iter(sorted(folder.rglob(f"{name}.csv*"))), None)
    if path is None:
        raise FileNotFoundError(
            f"{name}.csv is not in {folder}: {data_set}; docs/training.md says what it holds"
        )
    return pd.read_csv(path)


def _read_archive(path: Path) -> pd.DataFrame:
    labels = {"neg": 0, "pos": 1, "unsup": -1}
    rows = []
    with tarfile.open(path) as archive:
        for member in archive:
            _, *folders = Path(member.name).parts
            content = archive.extractfile(member)
            if content and len(folders) == 3 and folders[0] == "train" and folders[1] in labels:
                text = content.read().decode("utf-8")
                rows.append((labels[folders[1]], int(folders[2].partition("_")[0]), text))
    table = pd.DataFrame(rows, columns=["label", "number", "text"])
    # in the order of the files' numbers, unlabelled last, whatever the order in the archive
    table["unlabelled"] = table.label < 0
    return table.sort_values(["unlabelled", "label", "number"], ignore_index=True)[["text", "label"]]


def download(source: Download, folder: Path) -> None:
    """Downloads the file into `folder`.

    Raises ConnectionError if it cannot be downloaded, and ValueError if its checksum is wrong.
    """
    folder.mkdir(parents=True, exist_ok=True)
    partial_file = folder / f".{source.name}.part"  # not found by a search for the file itself
    digest = hashlib.md5(usedforsecurity=False)
    try:
        with urllib.request.urlopen(source.url, timeout=30) as response, partial_file.open("wb") as file:
            size = int(response.headers.get("Content-Length", 0)) or None
            with tqdm(total=size, unit="B", unit_scale=True, desc=source.name) as progress_bar:
                while chunk := response.read(1 << 16):
                    file.write(chunk)
                    digest.update(chunk)
                    progress_bar.update(len(chunk))
    except OSError as error:
        raise ConnectionError(
            f"{source.name} is not in {folder} and could not be downloaded from {source.url}: {error}"
        ) from error
    if digest.hexdigest() != source.md5:
        raise ValueError(f"{source.name} has the checksum {digest.hexdigest()}, expected {source.md5}")
    partial_file.replace(folder / source.name)
