import assert from "node:assert/strict";

const PROJECT = new URL("../../", import.meta.url);

Deno.test("links in the documents lead to files and headings that there are", async () => {
  const broken: string[] = [];
  for (const document of await documents()) {
    for (const target of targets(await read(document))) {
      const [path = "", anchor] = target.split("#");
      const file = path === ""
        ? document
        : new URL(path, new URL(document, PROJECT)).pathname.slice(PROJECT.pathname.length);
      const isThere = await Deno.stat(new URL(file, PROJECT)).then(() => true, () => false);
      if (!isThere || (anchor !== undefined && !anchors(await read(file)).has(anchor))) {
        broken.push(`${document}: ${target}`);
      }
    }
  }
  assert.deepEqual(broken, []);
});

Deno.test("a heading's anchor is made as GitHub makes it", () => {
  assert.deepEqual([...anchors("# What's `new`?\n```\n# no\n```\n## A/B: _x_ (2)\n## A/B: _x_ (2)\n")], [
    "whats-new",
    "ab-x-2",
    "ab-x-2-1",
  ]);
});

async function documents(): Promise<string[]> {
  const found = ["README.md", "SECURITY.md"];
  for (const folder of ["docs/", "docs/commands/"]) {
    for await (const { name } of Deno.readDir(new URL(folder, PROJECT))) {
      if (name.endsWith(".md")) found.push(folder + name);
    }
  }
  return found;
}

async function read(path: string): Promise<string> {
  return await Deno.readTextFile(new URL(path, PROJECT));
}

/** The places within the project that a document links to. */
function targets(text: string): string[] {
  const links = [...withoutCode(text).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = ""]) => target);
  return links.filter((target) => !/^[a-z]+:/.test(target));
}

function anchors(text: string): Set<string> {
  const found = new Set<string>();
  for (const [, heading = ""] of withoutCode(text).matchAll(/^#{1,6} +(.+)$/gm)) {
    const anchor = heading.replace(/[`*]|\b_|_\b/g, "").toLowerCase().replace(/[^\p{L}\p{N}_ -]/gu, "").replaceAll(
      " ",
      "-",
    );
    for (let count = 0;; count++) {
      const candidate = count === 0 ? anchor : `${anchor}-${count}`;
      if (found.has(candidate)) continue;
      found.add(candidate);
      break;
    }
  }
  return found;
}

function withoutCode(text: string): string {
  return text.replace(/^```[^]*?^```$/gm, "");
}
