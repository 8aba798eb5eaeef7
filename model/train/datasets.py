"""The data sets, read from a folder, or downloaded into it from their official addresses."""

import hashlib
import tarfile
import urllib.request
from pathlib import Path
from typing import NamedTuple

import pandas as pd
from tqdm import tqdm


class Download(NamedTuple):
    """A file to download, with the checksum of its publisher or of torchvision."""

    url: str
    md5: str

    @property
    def name(self) -> str:
        """File name."""
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
    """Folder of MNIST's training digits; missing files are downloaded into it."""
    for source in MNIST:
        if not any(folder.rglob(f"{source.name.removesuffix('.gz')}*")):
            download(source, folder)
    return folder


def reviews(folder: Path) -> pd.DataFrame:
    """IMDB's 75,000 training reviews: columns text and label (0 negative, 1 positive, -1 unlabelled).

    They are in the order of their numbers, in which reviews of one film follow one another. Reads
    `imdb_train.csv*` and `imdb_unsup.csv*`, or else the published archive.
    """
    tables = [next(iter(sorted(folder.rglob(f"imdb_{split}.csv*"))), None) for split in ("train", "unsup")]
    if all(tables):
        table = pd.concat([pd.read_csv(path) for path in tables], ignore_index=True)
        return table[["text", "label"]]
    if not (folder / IMDB.name).exists():
        download(IMDB, folder)
    return _from_archive(folder / IMDB.name)


def phrases(folder: Path) -> pd.DataFrame:
    """Sentences and phrases of the Stanford Sentiment Treebank, from `sst.csv*` in `folder`.

    Columns: split (train, dev), sentence, whole (1 for a sentence), rating (0 very negative to 4 very positive),
    text.
    """
    return _table(folder, "sst", "the Stanford Sentiment Treebank").dropna(subset="text")


def edited_reviews(folder: Path) -> pd.DataFrame:
    """Reviews that people edited to reverse their sentiment, with their originals, from `edited_reviews.csv*` in
    `folder`.

    Columns: split (train, dev), pair, version (original, edited), label (0 negative, 1 positive), text.
    """
    return _table(folder, "edited_reviews", "counterfactually augmented reviews (Kaushik et al. 2020)")


def _table(folder: Path, name: str, what: str) -> pd.DataFrame:
    """Raises FileNotFoundError, which names the missing data set: nobody publishes it in this form."""
    path = next(iter(sorted(folder.rglob(f"{name}.csv*"))), None)
    if path is None:
        raise FileNotFoundError(f"{name}.csv is not in {folder}: {what}; README.md says what it holds")
    return pd.read_csv(path)


def _from_archive(path: Path) -> pd.DataFrame:
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

    Raises ConnectionError where it cannot be fetched, ValueError where the checksum differs.
    """
    folder.mkdir(parents=True, exist_ok=True)
    partial = folder / f".{source.name}.part"  # not found by a search for the file itself
    digest = hashlib.md5(usedforsecurity=False)
    try:
        with urllib.request.urlopen(source.url, timeout=30) as answer, partial.open("wb") as file:
            size = int(answer.headers.get("Content-Length", 0)) or None
            with tqdm(total=size, unit="B", unit_scale=True, desc=source.name) as bar:
                while chunk := answer.read(1 << 16):
                    file.write(chunk)
                    digest.update(chunk)
                    bar.update(len(chunk))
    except OSError as error:
        raise ConnectionError(
            f"{source.name} is not in {folder} and could not be downloaded from {source.url}: {error}"
        ) from error
    if digest.hexdigest() != source.md5:
        raise ValueError(f"{source.name} has the checksum {digest.hexdigest()}, expected {source.md5}")
    partial.replace(folder / source.name)
