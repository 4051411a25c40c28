import assert from "node:assert/strict";
import type { DiscoveryFiles, Metadata } from "../../lib/discovery/files.ts";
import { codexHomeUri, type DiscoveryHost } from "../../lib/discovery/host.ts";

/** Where everything is a directory, and nothing a link. */
const files: Pick<DiscoveryFiles, "metadata" | "canonical"> = {
  metadata: () => Promise.resolve({ isDirectory: true } as Metadata),
  canonical: (uri) => Promise.resolve(uri),
};

function uriOn(host: Pick<DiscoveryHost, "home" | "codexHome" | "cwd">): Promise<string> {
  return codexHomeUri({ hostname: null, systemConfigDir: "/etc/codex", ...host }, files as DiscoveryFiles);
}

Deno.test("codexHomeUri takes relative paths from the server's directory", async () => {
  assert.equal(await uriOn({ home: "/home/me", codexHome: "there", cwd: "/work" }), "file:///work/there");
  assert.equal(await uriOn({ home: "me", codexHome: null, cwd: "/work" }), "file:///work/me/.codex");
});

Deno.test("codexHomeUri needs no directory of the server's where paths are absolute, and says so where they are not", async () => {
  assert.equal(await uriOn({ home: "/home/me", codexHome: null, cwd: null }), "file:///home/me/.codex");
  assert.equal(await uriOn({ home: null, codexHome: "/there", cwd: null }), "file:///there");
  await assert.rejects(uriOn({ home: null, codexHome: "there", cwd: null }), {
    kind: "internal",
    message: '"there" is relative, and the server\'s working directory has been removed',
  });
});
