"""What a block of a page presupposes: said above it in words, where the page has the comment `<!-- needs: … -->`."""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import Final

_COMMENT: Final = re.compile(r"^<!-- needs: ([^>]+) -->$", re.MULTILINE)
NEEDS: Final = MappingProxyType(
    {
        "kafka": (
            "a Kafka broker at the address shown, and the extra `kafka` or `spark`",
            "所示地址上的 Kafka broker，以及 extra `kafka` 或 `spark`",
        ),
        "spark": (
            "the extra `spark`, and Java 17 or 21",
            "extra `spark`，以及 Java 17 或 21",
        ),
        "kafka and spark": (
            "a Kafka broker at the address shown, the extra `spark`, and Java 17 or 21",
            "所示地址上的 Kafka broker、extra `spark`，以及 Java 17 或 21",
        ),
        "development": (
            "Java 17 and ten minutes or more; it is for work on the project only",
            "Java 17 和十分钟以上的时间；只在参与开发时需要",
        ),
        "spark and a minute": (
            "the extra `spark`, and Java 17 or 21; it takes a minute",
            "extra `spark`，以及 Java 17 或 21；约一分钟",
        ),
        "kcat": (
            "a Kafka broker at the address shown, and kcat",
            "所示地址上的 Kafka broker，以及 kcat",
        ),
        "Kubernetes": ("a cluster of Kubernetes, and kubectl", "Kubernetes 集群和 kubectl"),
        "PyFlink": ("PyFlink", "PyFlink"),
        "a package index": ("PyPI, or a mirror of it", "PyPI 或其镜像"),
        "pytest": ("pytest, in the same virtual environment", "同一虚拟环境中的 pytest"),
        "git": ("git", "git"),
        "a git repository": ("a git repository with contracts", "存放契约的 git 仓库"),
        "a checkout": ("a checkout of the repository", "本仓库的检出目录"),
        "an installed wheel": ("the package installed from a wheel", "已安装的 wheel"),
        "a new virtual environment": (
            "Python 3.11 or newer; nothing is installed yet",
            "Python 3.11 或更高版本；无需预先安装任何包",
        ),
        "a server": (
            "a registry that runs, see [Serve a registry](registry.md)",
            "正在运行的 Registry，见[启动 Registry](registry.zh.md)",
        ),
        "a report": ("a report in JSON of an earlier audit", "先前一次审计的 JSON 报告"),
        "a topic": ("a topic of your own, and the extra `kafka`", "自己的 topic，以及 extra `kafka`"),
        "a Spark session": ("a session of Spark", "一个 Spark 会话"),
        "a decoded directory": ("a directory that `decode` has written", "`decode` 写出的目录"),
        "a folder of contracts": ("a folder of contracts of your own", "存放自己的契约的文件夹"),
        "table contracts": ("a folder of table contracts", "存放表契约的文件夹"),
        "the extra arrow": ("the extra `arrow`", "extra `arrow`"),
    }
)
"""What a block needs, by the word of its comment: in English and in Chinese."""
UNSAID: Final = frozenset({"no output shown", "a terminal"})
"""Words of comments that are for tests."""


def say_needs(markdown: str, *, chinese: bool = False) -> str:
    """Return a page in English or Chinese with what its blocks need in words."""

    def say(found: re.Match[str]) -> str:
        if found[1] not in NEEDS:
            return found[0]
        english, translated = NEEDS[found[1]]
        words = f"需要：{translated}。" if chinese else f"Needs {english}."
        return f"{found[0]}\n\n*{words}*{{: .needs }}\n"

    return _COMMENT.sub(say, markdown)
