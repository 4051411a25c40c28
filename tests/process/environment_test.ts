import assert from "node:assert/strict";
import fc from "fast-check";
import { childEnvironment, type EnvPolicy } from "../../lib/process/environment.ts";

const everything: EnvPolicy = {
  inherit: "all",
  ignoreDefaultExcludes: true,
  exclude: [],
  set: new Map(),
  includeOnly: [],
};
const none = new Map<string, string>();

function map(variables: Record<string, string>): Map<string, string> {
  return new Map(Object.entries(variables));
}

/** Names that survive `includeOnly: [pattern]`, out of some. */
function matching(pattern: string, names: string[]): string[] {
  const inherited = new Map(names.map((name) => [name, "x"]));
  return [...childEnvironment(none, { ...everything, includeOnly: [pattern] }, inherited).keys()];
}

Deno.test("without a policy a program gets what the client gave and nothing else", () => {
  assert.deepEqual(childEnvironment(map({ A: "1" }), null, map({ B: "2" })), map({ A: "1" }));
});

Deno.test("inherit decides what the server's own environment contributes", () => {
  const own = map({ HOME: "/h", lang: "C", LC_TIME: "C", TMPDIR: "/t", PATH: "/p", "ſHELL": "x", FOO: "f" });
  assert.deepEqual(childEnvironment(none, everything, own), own);
  assert.deepEqual(childEnvironment(none, { ...everything, inherit: "none" }, own), none);
  assert.deepEqual(
    childEnvironment(none, { ...everything, inherit: "core" }, own),
    map({ HOME: "/h", lang: "C", TMPDIR: "/t", PATH: "/p" }),
  );
});

Deno.test("names that look like secrets are dropped unless the policy ignores the default exclusions", () => {
  const own = map({ MY_API_KEY: "k", Secret_x: "s", a_token_b: "t", "to\u212Aen": "Kelvin", TOKE: "ok" });
  assert.deepEqual(childEnvironment(none, { ...everything, ignoreDefaultExcludes: false }, own), map({ TOKE: "ok" }));
});

Deno.test("exclude comes before set, includeOnly after it, and the client's own variables are never filtered", () => {
  const policy: EnvPolicy = {
    inherit: "all",
    ignoreDefaultExcludes: false,
    exclude: ["F*"],
    set: map({ FOO: "set", MY_KEY: "set", OTHER: "set" }),
    includeOnly: ["f?o", "my_*", "P*"],
  };
  const own = map({ FOO: "own", PATH: "/own", PWD: "/", LANG: "C" });
  assert.deepEqual(
    childEnvironment(map({ PATH: "/given", X_TOKEN: "given" }), policy, own),
    map({ PATH: "/given", PWD: "/", FOO: "set", MY_KEY: "set", X_TOKEN: "given" }),
  );
});

Deno.test("two settings of an exec-server never reach a program, the secret one in no spelling", () => {
  const own = map({
    CODEX_EXEC_SERVER_NOISE_AUTH_TOKEN: "1",
    Codex_exec_server_noise_auth_token: "1",
    CODEX_EXEC_SERVER_EXIT_ON_STDIN_CLOSE: "1",
    codex_exec_server_exit_on_stdin_close: "1",
    CODEX_EXEC_SERVER_OTHER: "1",
  });
  const expected = map({ codex_exec_server_exit_on_stdin_close: "1", CODEX_EXEC_SERVER_OTHER: "1" });
  assert.deepEqual(childEnvironment(own, null, none), expected);
  assert.deepEqual(childEnvironment(none, everything, own), expected);
  assert.deepEqual(childEnvironment(none, { ...everything, inherit: "none", set: own }, none), expected);
});

Deno.test("names like those of an object's own members are ordinary names", () => {
  const own = new Map([["__proto__", "1"], ["constructor", "2"]]);
  assert.deepEqual(childEnvironment(none, everything, own), own);
});

Deno.test("patterns know * and ? and nothing else", () => {
  assert.deepEqual(matching("[a-z]x", ["ax", "[a-z]x"]), ["[a-z]x"]);
  assert.deepEqual(matching("{a,b}", ["a", "{A,b}"]), ["{A,b}"]);
  assert.deepEqual(matching("st\\*r", ["star", "st*r", "st\\oor"]), ["st\\oor"]);
  assert.deepEqual(matching("x.y", ["xzy", "x.y"]), ["x.y"]);
  assert.deepEqual(matching("fo**r", ["foobar", "FOR", "fo"]), ["foobar", "FOR"]);
  assert.deepEqual(matching("n?x*", ["N\nX\nY", "nx"]), ["N\nX\nY"]);
  assert.deepEqual(matching("", ["a", ""]), [""]);
});

Deno.test("patterns compare character by character in lower case", () => {
  assert.deepEqual(matching("?", ["a", "İ", "😀", "ab", "i̇"]), ["a", "İ", "😀"]);
  assert.deepEqual(matching("İ", ["İ", "i̇", "i"]), ["İ"]);
  assert.deepEqual(matching("σ*", ["Σ2", "ς3"]), ["Σ2"]);
  assert.deepEqual(matching("AΣ", ["aσ", "aς"]), ["aσ"]);
  assert.deepEqual(matching("STRAẞE", ["straße", "STRASSE"]), ["straße"]);
  assert.deepEqual(matching("s*", ["ſx", "Sx"]), ["Sx"]);
});

Deno.test("patterns mean what a regular expression of the same meaning says", () => {
  const letters = fc.constantFrom("a", "B", "É", "_");
  const text = fc.array(letters, { maxLength: 12 }).map((all) => all.join(""));
  const pattern = fc.array(fc.oneof(letters, fc.constantFrom("*", "?")), { maxLength: 8 }).map((all) => all.join(""));
  fc.assert(fc.property(text, pattern, (name, pattern) => {
    const same = new RegExp(`^${pattern.replaceAll("*", "[^]*").replaceAll("?", "[^]")}$`, "iu");
    assert.equal(matching(pattern, [name]).length === 1, same.test(name));
  }));
});

Deno.test("a pattern made to defeat backtracking is answered", () => {
  assert.deepEqual(matching("*a".repeat(2_000) + "b", ["a".repeat(20_000)]), []);
});
