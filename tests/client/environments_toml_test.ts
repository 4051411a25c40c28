import assert from "node:assert/strict";
import { readEnvironmentsToml } from "../../lib/client/environments_toml.ts";
import { readCases } from "../support/cases.ts";

/** What the reference said to a document, in a directory that it called DIR; null: it took it. */
interface Case {
  readonly document: string;
  readonly error: string | null;
}

const PATH = "DIR/environments.toml";
const ENTRY = 'id = "a"\n';

function read(document: string, directory: string | null = "/home/.codex") {
  return readEnvironmentsToml(document, PATH, directory);
}

function entry(body: string, directory?: string | null) {
  return read(`[[environments]]\n${ENTRY}${body}`, directory).environments[0];
}

function refusal(document: string): string | null {
  try {
    read(document);
    return null;
  } catch (error) {
    assert.equal((error as { kind?: unknown }).kind, "protocol");
    return (error as Error).message;
  }
}

Deno.test("environments.toml is taken and refused as by the reference, in its words", () => {
  for (const { document, error } of readCases<Case>("cases/environments_toml.jsonl", import.meta.url)) {
    assert.equal(refusal(document), error, document);
  }
});

Deno.test("a document that is no TOML says where", () => {
  const prefix = `exec-server protocol error: failed to parse environment config \`${PATH}\`: `;
  assert.equal(refusal('default = "a"\ndefault = "b"'), `${prefix}duplicate key, at line 2, column 1`);
  for (const document of ["=", "a", "a =", 'default = "x', "[", "x = 1 y = 2", 'default = "\\q"']) {
    const text = refusal(document) ?? "";
    assert.ok(text.startsWith(prefix), text);
    assert.match(text, /, at line 1, column \d+$/);
  }
});

Deno.test("a list in place of a table is refused, although the reference takes some", () => {
  for (const document of ["environments = [[]]", `[[environments]]\n${ENTRY}url = "ws://a"\nskills = []`]) {
    assert.match(refusal(document) ?? "", /invalid type: sequence, expected struct \w+\nin `environments/);
  }
});

Deno.test("without a word of it there is this machine, and it is the default", () => {
  assert.deepEqual(read(""), { includeLocal: true, default: "local", environments: [] });
  assert.deepEqual(read("include_local = false"), { includeLocal: false, default: null, environments: [] });
  for (const none of ["none", "NONE", " None "]) assert.equal(read(`default = "${none}"`).default, null);
  assert.equal(read('default = " a "\n[[environments]]\nid = "a"\nurl = "ws://a"').default, "a");
  assert.equal(read('default = "local "').default, "local");
});

Deno.test("an environment behind a URL has its trimmed URL, its token and its limits in milliseconds", () => {
  assert.deepEqual(
    entry('url = " ws://127.0.0.1:1 "\nauth_bearer_token = ""\nconnect_timeout_sec = 1.5\ninitialize_timeout_sec = 2'),
    {
      id: "a",
      server: { kind: "url", url: "ws://127.0.0.1:1", token: "", connectTimeoutMs: 1500 },
      initializeTimeoutMs: 2000,
      requiredSkills: [],
    },
  );
  assert.deepEqual(entry('url = "wss://a?b=c"\nskills = { required = ["x", "y"] }'), {
    id: "a",
    server: { kind: "url", url: "wss://a?b=c" },
    requiredSkills: ["x", "y"],
  });
});

Deno.test("a limit that no timer can wait is the longest that one can", () => {
  assert.equal(entry('url = "ws://a"\ninitialize_timeout_sec = 9223372036854775807')?.initializeTimeoutMs, 2 ** 31 - 1);
});

Deno.test("an environment behind a command has its trimmed program, and a directory below the file's", () => {
  const command = (body: string, directory?: string | null) => {
    const server = entry(`program = " x "\n${body}`, directory)?.server;
    return server?.kind === "command" ? server.command : undefined;
  };
  assert.deepEqual(command(""), { program: "x", args: [], env: {} });
  assert.deepEqual(command('args = ["1", ""]\nenv = { A = "b" }\ncwd = "c/d"'), {
    program: "x",
    args: ["1", ""],
    env: { A: "b" },
    cwd: "/home/.codex/c/d",
  });
  assert.equal(command('cwd = "/c"')?.cwd, "/c");
  assert.equal(command('cwd = "/c"', null)?.cwd, "/c");
  assert.throws(() => command('cwd = "c"', null), {
    message: "exec-server protocol error: environment `a` cwd must be absolute",
  });
});
