import hashlib
import tarfile

import pandas as pd
import pytest

from model.train import datasets
from model.train.datasets import Download, download, edited_reviews, mnist_folder, phrases, reviews


def test_reviews_from_tables(few_reviews):
    table = reviews(few_reviews)
    assert list(table.columns) == ["text", "label"]
    assert table.label.value_counts().to_dict() == {0: 150, 1: 150, -1: 100}


def test_reviews_from_the_published_archive(tmp_path):
    with tarfile.open(tmp_path / "aclImdb_v1.tar.gz", "w:gz") as archive:
        for name in ("train/pos/1_9", "train/neg/0_2", "train/unsup/0_0", "test/pos/0_10", "train/pos/0_7"):
            file = tmp_path / "review.txt"
            file.write_text(name, encoding="utf-8")
            archive.add(file, f"aclImdb/{name}.txt")
        archive.add(file, "aclImdb/README")
    expected = pd.DataFrame(
        {
            "text": ["train/neg/0_2", "train/pos/0_7", "train/pos/1_9", "train/unsup/0_0"],
            "label": [0, 1, 1, -1],
        }
    )
    pd.testing.assert_frame_equal(reviews(tmp_path), expected)


@pytest.mark.parametrize(("read", "name"), [(phrases, "sst"), (edited_reviews, "edited_reviews")])
def test_what_cannot_be_downloaded_is_asked_for(few_reviews, tmp_path, read, name):
    assert set(read(few_reviews).split) == {"train", "dev"}
    with pytest.raises(FileNotFoundError, match=f"{name}.csv is not in"):
        read(tmp_path)


def test_download_checks_the_sum_and_leaves_nothing_wrong(tmp_path):
    origin = tmp_path / "there.bin"
    origin.write_bytes(b"digits")
    right = Download(origin.as_uri(), hashlib.md5(b"digits").hexdigest())
    download(right, tmp_path / "data")
    assert (tmp_path / "data" / "there.bin").read_bytes() == b"digits"
    with pytest.raises(ValueError, match="has the checksum"):
        download(right._replace(md5="0" * 32), tmp_path / "other")
    assert not (tmp_path / "other" / "there.bin").exists()


def test_without_network_one_sentence_says_so(tmp_path, monkeypatch):
    nowhere = Download("http://127.0.0.1:9/train-images-idx3-ubyte.gz", "0" * 32)
    monkeypatch.setattr(datasets, "MNIST", (nowhere,))
    with pytest.raises(ConnectionError, match="could not be downloaded from"):
        mnist_folder(tmp_path)
