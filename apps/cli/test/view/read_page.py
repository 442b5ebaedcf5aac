"""Reads a page of `interlace view` with Python's own HTML parser, which knows nothing of who wrote it.

In: the page. Out: its trajectories with their facts and tokens, and every tag, attribute and address that it uses.
"""

import json
import sys
from html.parser import HTMLParser

VOID = {"meta", "input", "br", "img", "link", "hr"}


class Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.stack: list[tuple[str, dict[str, str]]] = []
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.addresses: set[str] = set()
        self.ids: list[str] = []
        self.trajectories: list[dict] = []
        self.groups: list[dict] = []
        self.where: dict | None = None
        self.text: list[str] = []
        self.policy = ""
        self.style = ""
        self.term = ""
        self.checked: list[str] = []

    def classes(self, tag: str) -> list[str]:
        return next((a.get("class", "").split() for t, a in reversed(self.stack) if t == tag), [])

    def inside(self, name: str) -> bool:
        return any(name in a.get("class", "").split() for _, a in self.stack)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len({name for name, _ in attrs}) == len(attrs), attrs
        own = {name: value or "" for name, value in attrs}
        self.tags.add(tag)
        self.attributes.update(own)
        self.addresses.update(v for k, v in own.items() if k in ("href", "src", "action"))
        if "id" in own:
            self.ids.append(own["id"])
        if own.get("http-equiv") == "Content-Security-Policy":
            self.policy = own["content"]
        if "checked" in own:
            self.checked.append(own["id"])
        names = own.get("class", "").split()
        if tag == "section" and "group" in names:
            self.where = {"facts": {}, "tokens": []}
            self.groups.append(self.where)
        if tag == "details" and "trajectory" in names:
            self.where = {
                "id": own["id"],
                "kinds": names[1:],
                "open": "open" in own,
                "facts": {},
                "tokens": [],
                "calls": [],
                "plain": [],
            }
            self.trajectories.append(self.where)
        if tag == "b" and self.where is not None and self.inside("tokens"):
            run = next(a["class"].split() for t, a in reversed(self.stack) if t == "span")
            self.where["tokens"].append(
                {"title": own["title"], "names": names, "run": run, "text": ""}
            )
        if "tool" in names and self.where is not None:
            self.where["calls"].append({"status": "", "code": "", "stdout": "", "stderr": ""})
        if "plain" in names and self.where is not None:
            self.where["plain"].append("")
        if tag not in VOID:
            self.stack.append((tag, own))

    def handle_endtag(self, tag: str) -> None:
        assert self.stack and self.stack[-1][0] == tag, (tag, self.stack[-3:])
        self.stack.pop()

    def handle_data(self, data: str) -> None:
        tag, own = self.stack[-1] if self.stack else ("", {})
        names = own.get("class", "").split()
        if tag == "style":
            self.style += data
            return
        self.text.append(data)
        if self.where is None:
            return
        if tag == "dt":
            self.term = data
        if any(t == "dd" for t, _ in self.stack):
            self.where["facts"][self.term] = self.where["facts"].get(self.term, "") + data
        if any(t == "b" for t, _ in self.stack) and self.where["tokens"]:
            self.where["tokens"][-1]["text"] += data
        for name in ("status", "code", "stdout", "stderr"):
            if self.inside(name) and self.where.get("calls"):
                self.where["calls"][-1][name] += data
        if self.inside("plain"):
            self.where["plain"][-1] += data

    def report(self) -> dict:
        assert not self.stack, self.stack
        assert len(set(self.ids)) == len(self.ids), "an id twice"
        return {
            "tags": sorted(self.tags),
            "attributes": sorted(self.attributes),
            "addresses": sorted(self.addresses),
            "ids": self.ids,
            "groups": self.groups,
            "trajectories": self.trajectories,
            "text": "".join(self.text),
            "policy": self.policy,
            "style": self.style,
            "checked": self.checked,
        }


page = Page()
page.feed(open(sys.argv[1], encoding="utf-8", newline="").read())
page.close()
json.dump(page.report(), sys.stdout)
