import assert from "node:assert/strict";
import { parseServeOptions, type ServeOptions } from "../../lib/cli/serve_options.ts";
import { UsageError } from "../../lib/cli/usage_error.ts";

const EXIT_VARIABLE = "CODEX_EXEC_SERVER_EXIT_ON_STDIN_CLOSE";
const ANY = ["--listen", "ws://127.0.0.1:0"];
const CAPABILITY = ["--ws-auth", "capability-token"];
const SIGNED = ["--ws-auth", "signed-bearer-token"];
const DIGEST = "FB07916A0E7DAF7F3F4823B7773F85A839A8DD46FBF3858B8F53D3FA463C8EF3";

function parse(argv: readonly string[], exitOnStdinClose?: string) {
  return parseServeOptions(argv, (name) => name === EXIT_VARIABLE ? exitOnStdinClose : undefined);
}

function options(...argv: string[]): ServeOptions {
  const command = parse(argv);
  assert.equal(command.kind, "serve");
  return (command as { options: ServeOptions }).options;
}

/** Expects a wrong command line: exit code 2, the clap way. */
function expectUsage(argv: readonly string[], error: string, usage?: string, variable?: string): void {
  const text = `error: ${error}${usage === undefined ? "" : `\n\nUsage: exec-server ${usage}`}` +
    "\n\nFor more information, try '--help'.";
  assert.throws(() => parse(argv, variable), new UsageError(2, text), argv.join(" "));
}

/** Expects a command line that asks for what cannot be: exit code 1. */
function expectFailure(argv: readonly string[], sentence: string): void {
  assert.throws(() => parse(argv), new UsageError(1, `Error: ${sentence}`), argv.join(" "));
}

Deno.test("parseServeOptions has a default for everything", () => {
  assert.deepEqual(options(), {
    listen: { kind: "websocket", hostname: "127.0.0.1", port: 0 },
    concurrentRequests: 1,
    auth: null,
    allowedOrigins: [],
    maxDetachedMs: 24 * 3_600_000,
    sandbox: "auto",
    logLevel: "warn",
    idle: [],
  });
  assert.deepEqual(options("--"), options());
});

Deno.test("parseServeOptions takes values behind a blank or an equals sign", () => {
  const expected = {
    listen: { kind: "websocket", hostname: "0.0.0.0", port: 8080 },
    concurrentRequests: 8,
    auth: { mode: "capability-token", token: { file: "a=b" } },
    allowedOrigins: ["https://a.example"],
    maxDetachedMs: 90_000,
    sandbox: "unshare",
    logLevel: "debug",
    idle: [],
  };
  const pairs = [
    ["--listen", "ws://0.0.0.0:8080"],
    ["--concurrent-requests", "+08"],
    ["--log-level", "debug"],
    [
      "--ws-auth",
      "capability-token",
    ],
    ["--ws-token-file", "a=b"],
    ["--allow-origin", "https://a.example"],
    ["--max-detached", "90s"],
    ["--sandbox", "unshare"],
  ];
  assert.deepEqual(options(...pairs.flat()), expected);
  assert.deepEqual(options(...pairs.map((pair) => pair.join("="))), expected);
  // Taken as it is, though no machine runs so many.
  assert.equal(options("--concurrent-requests", "18446744073709551615").concurrentRequests, 2 ** 64);
});

Deno.test("--allow-origin can be given several times and takes only what browsers send", () => {
  const origins = ["https://a.example", "http://localhost:3000", "http://[::1]:8080", "chrome-extension://abcdef"];
  assert.deepEqual(options(...origins.flatMap((origin) => ["--allow-origin", origin])).allowedOrigins, origins);
  const refused = (value: string) => `invalid value '${value}' for '--allow-origin <ORIGIN>'`;
  const wanted = "an origin is expected, such as https://app.example.com or http://localhost:3000";
  for (const text of ["*", "https://*.example", "https://*"]) {
    expectUsage(
      ["--allow-origin", "https://a.example", "--allow-origin", text],
      `${refused(text)}: there are no wildcards, name the origin of each page`,
    );
  }
  for (const text of ["", "null", "a.example", "https://", "file:///tmp/page.html", "file:", "https://a b"]) {
    expectUsage([`--allow-origin=${text}`], `${refused(text)}: ${wanted}`);
  }
  for (
    const [text, sent] of [
      ["https://a.example/", "https://a.example"],
      ["https://A.example", "https://a.example"],
      ["https://a.example:443", "https://a.example"],
      ["http://user@a.example:8080/page?x", "http://a.example:8080"],
    ] as const
  ) expectUsage(["--allow-origin", text], `${refused(text)}: ${wanted}; browsers send this one as ${sent}`);
});

Deno.test("--max-detached is a duration, or 0 for none", () => {
  for (const [text, ms] of [["0", 0], ["90s", 90_000], ["30m", 1_800_000], ["7d", 604_800_000]] as const) {
    assert.equal(options("--max-detached", text).maxDetachedMs, ms);
  }
  for (const text of ["90", "-1s", "soon", ""]) {
    assert.throws(() => parse([`--max-detached=${text}`]), {
      exitCode: 2,
      message:
        /^error: invalid value '.*' for '--max-detached <DURATION>': a number with a unit is expected.*; or 0 for none\n/,
    });
  }
});

Deno.test("--sandbox names what enforces sandboxes, in every mode", () => {
  const remote = ["--remote", "https://registry.example", "--environment-id", "env"];
  for (const choice of ["auto", "bubblewrap", "unshare", "landlock", "external"]) {
    assert.equal(options("--sandbox", choice).sandbox, choice);
    assert.equal(options("--listen", "stdio", "--sandbox", choice).sandbox, choice);
    const command = parse([...remote, "--sandbox", choice]);
    assert.equal(command.kind === "remote" && command.options.sandbox, choice);
  }
  const possible = "\n  [possible values: auto, bubblewrap, unshare, landlock, external]";
  for (const word of ["none", "filter", "", "Auto"]) {
    assert.throws(() => parse([`--sandbox=${word}`]), (error: Error) => error.message.includes(possible), word);
  }
});

Deno.test("what only a WebSocket listener has a use for is refused with stdio", () => {
  for (const [name, value] of [["--allow-origin", "https://a.example"], ["--max-detached", "1h"]] as const) {
    expectFailure(["--listen", "stdio", name, value], `\`${name}\` requires a WebSocket listener, not stdio`);
  }
  assert.equal(options("--listen", "stdio").maxDetachedMs, 0);
});

Deno.test("parseServeOptions passes on what is wrong with the address", () => {
  expectFailure(["--listen", "x"], "unsupported --listen URL `x`; expected `ws://IP:PORT` or `stdio`");
});

Deno.test("parseServeOptions names the value that is none, and why", () => {
  const count = (value: string, flaw: string) =>
    expectUsage(
      [`--concurrent-requests=${value}`],
      `invalid value '${value}' for '--concurrent-requests <COUNT>': ${flaw}`,
    );
  count("0", "number would be zero for non-zero type");
  count("+0", "number would be zero for non-zero type");
  count("", "cannot parse integer from empty string");
  for (const value of ["x", "-1", "+", " 1", "1.0", "0x1", "1_0"]) count(value, "invalid digit found in string");
  count("18446744073709551616", "number too large to fit in target type");
  expectUsage(
    ["--ws-max-clock-skew-seconds", "x"],
    "invalid value 'x' for '--ws-max-clock-skew-seconds <SECONDS>': invalid digit found in string",
  );
  const modes = "\n  [possible values: capability-token, signed-bearer-token]";
  expectUsage(["--ws-auth", "basic"], `invalid value 'basic' for '--ws-auth <MODE>'${modes}`);
  expectUsage(
    ["--ws-auth", "cap"],
    `invalid value 'cap' for '--ws-auth <MODE>'${modes}\n\n  tip: a similar value exists: 'capability-token'`,
  );
  expectUsage(
    ["--log-level", "loud"],
    "invalid value 'loud' for '--log-level <LEVEL>'\n  [possible values: off, error, warn, info, debug]",
  );
});

Deno.test("parseServeOptions misses a value where another option or nothing follows", () => {
  const missing = (form: string, possible = "") => `a value is required for '${form}' but none was supplied${possible}`;
  expectUsage(["--listen"], missing("--listen <URL>"));
  expectUsage(["--listen", "--concurrent-requests", "4"], missing("--listen <URL>"));
  expectUsage(["--listen", "--"], missing("--listen <URL>"));
  expectUsage(["--ws-token-file="], missing("--ws-token-file <PATH>"));
  expectUsage(["--ws-shared-secret-file", ""], missing("--ws-shared-secret-file <PATH>"));
  expectUsage(
    ["--ws-auth="],
    missing("--ws-auth <MODE>", "\n  [possible values: capability-token, signed-bearer-token]"),
  );
});

Deno.test("parseServeOptions names what it does not know, and what was perhaps meant", () => {
  const unexpected = (arg: string) => `unexpected argument '${arg}' found`;
  expectUsage(["--bogus"], unexpected("--bogus"), "[OPTIONS]");
  expectUsage(["--bogus=x", "--help"], unexpected("--bogus"), "[OPTIONS]");
  expectUsage([...ANY, "--bogus"], unexpected("--bogus"), "--listen <URL>");
  expectUsage(["--concurrent-requests", "0", "--bogus"], unexpected("--bogus"), "--concurrent-requests <COUNT>");
  expectUsage(["--exit-on-stdin-close", "--bogus"], unexpected("--bogus"), "--exit-on-stdin-close");
  expectUsage(["foo"], unexpected("foo"), "[OPTIONS]");
  expectUsage([...ANY, "foo"], unexpected("foo"), "[OPTIONS]");
  expectUsage([...ANY, "-x"], unexpected("-x"), "[OPTIONS]");
  expectUsage(["--", "--listen"], unexpected("--listen"), "[OPTIONS]");
  expectUsage(["-"], unexpected("-"), "[OPTIONS]");
  expectUsage(["-x"], unexpected("-x"), "[OPTIONS]");
  expectUsage(["-éa"], unexpected("-é"), "[OPTIONS]");
  expectUsage(["--concurrent-requests", "-1"], unexpected("-1"), "[OPTIONS]");
  expectUsage(["--strict-config"], unexpected("--strict-config"), "[OPTIONS]");
  const similar = (arg: string, name: string) => `${unexpected(arg)}\n\n  tip: a similar argument exists: '${name}'`;
  for (const arg of ["--lisen", "--Listen", "--list", "--listen-x"]) {
    expectUsage([arg, "x"], similar(arg, "--listen"), "--listen <URL>");
  }
  expectUsage(["--ws", "x"], similar("--ws", "--ws-auth"), "--ws-auth <MODE>");
  expectUsage(
    ["--concurrent-requests", "4", "--lisen", "x"],
    similar("--lisen", "--listen"),
    "--concurrent-requests <COUNT> --listen <URL>",
  );
});

Deno.test("parseServeOptions takes an option once", () => {
  const twice = (form: string) => `the argument '${form}' cannot be used multiple times`;
  expectUsage([...ANY, ...ANY], twice("--listen <URL>"), "[OPTIONS]");
  expectUsage(["--exit-on-stdin-close", "--exit-on-stdin-close"], twice("--exit-on-stdin-close"), "[OPTIONS]");
  expectUsage(
    ["--concurrent-requests", "0", "--concurrent-requests", "x"],
    "invalid value '0' for '--concurrent-requests <COUNT>': number would be zero for non-zero type",
  );
});

Deno.test("parseServeOptions stops at help and version, and not at what was wrong before them", () => {
  for (const argv of [["--help"], ["-h"], ["-hx"], ["-h", "--bogus"], [...ANY, "-h"]]) {
    assert.equal(parse(argv, "bad").kind, "help");
  }
  for (const argv of [["--version"], ["-V"], ["-V", "-h"]]) assert.equal(parse(argv).kind, "version");
  expectUsage(
    ["--concurrent-requests", "0", "-h"],
    "invalid value '0' for '--concurrent-requests <COUNT>': number would be zero for non-zero type",
  );
  expectUsage(["--help=x"], "unexpected value 'x' for '--help' found; no more were expected", "--help");
});

Deno.test("parseServeOptions lets exit-on-stdin-close and remote mode demand what they need", () => {
  const missing = (...forms: string[]) =>
    ["the following required arguments were not provided:", ...forms].join("\n  ");
  const both = "--environment-id <ID> --remote <URL>";
  expectUsage(
    [...ANY, "--exit-on-stdin-close"],
    missing("--environment-id <ID>", "--remote <URL>"),
    `${both} --listen <URL> --exit-on-stdin-close`,
  );
  expectUsage(
    [...ANY],
    missing("--environment-id <ID>", "--remote <URL>"),
    `${both} --listen <URL> --exit-on-stdin-close`,
    "true",
  );
  expectUsage(["--remote", "x"], missing("--environment-id <ID>"), both);
  expectUsage(
    ["--exit-on-stdin-close", "--environment-id", "x"],
    missing("--remote <URL>"),
    `${both} --exit-on-stdin-close`,
  );
  expectUsage(
    ["--exit-on-stdin-close=true"],
    "unexpected value 'true' for '--exit-on-stdin-close' found; no more were expected",
    "--exit-on-stdin-close",
  );
  expectUsage(
    [...ANY, "--environment-id", "x", "--remote", "y"],
    "the argument '--listen <URL>' cannot be used with '--remote <URL>'",
    "--listen <URL> --environment-id <ID>",
  );
  expectUsage(
    ["--remote", "y", ...ANY],
    "the argument '--remote <URL>' cannot be used with '--listen <URL>'",
    "--environment-id <ID> --remote <URL>",
  );
});

Deno.test("parseServeOptions takes the variable for exit-on-stdin-close by its word", () => {
  assert.equal(parse(ANY, "false").kind, "serve");
  const possible = "\n  [possible values: true, false]";
  for (const value of ["1", "TRUE", "yes"]) {
    expectUsage(ANY, `invalid value '${value}' for '--exit-on-stdin-close'${possible}`, undefined, value);
  }
  expectUsage(ANY, `a value is required for '--exit-on-stdin-close' but none was supplied${possible}`, undefined, "");
});

Deno.test("parseServeOptions reads how upgrades are authorized", () => {
  assert.deepEqual(options(...CAPABILITY, "--ws-token-file", "~/token").auth, {
    mode: "capability-token",
    token: { file: "~/token" },
  });
  assert.deepEqual(options(...CAPABILITY, "--ws-token-sha256", ` ${DIGEST} `).auth, {
    mode: "capability-token",
    token: { sha256: DIGEST },
  });
  assert.deepEqual(options(...SIGNED, "--ws-shared-secret-file", "s").auth, {
    mode: "signed-bearer-token",
    secretFile: "s",
    issuer: null,
    audience: null,
    maxClockSkewSeconds: 30n,
  });
  const named = ["--ws-issuer", " me ", "--ws-audience", " ", "--ws-max-clock-skew-seconds", "18446744073709551615"];
  assert.deepEqual(options(...SIGNED, "--ws-shared-secret-file", "s", ...named).auth, {
    mode: "signed-bearer-token",
    secretFile: "s",
    issuer: "me",
    audience: null,
    maxClockSkewSeconds: 2n ** 64n - 1n,
  });
});

Deno.test("parseServeOptions refuses combinations about authorization, in the reference's order", () => {
  const noMode = "websocket auth flags require `--ws-auth capability-token` or `--ws-auth signed-bearer-token`";
  const forSigned = "`--ws-shared-secret-file`, `--ws-issuer`, `--ws-audience`, and `--ws-max-clock-skew-seconds` " +
    "require `--ws-auth signed-bearer-token`";
  const forCapability =
    "`--ws-token-file` and `--ws-token-sha256` require `--ws-auth capability-token`, not `signed-bearer-token`";
  const cases: [string[], string][] = [
    [["--ws-token-file", "x", "--listen", "bad"], noMode],
    [["--ws-issuer="], noMode],
    [["--ws-audience", " "], noMode],
    [["--ws-max-clock-skew-seconds", "3"], noMode],
    [[...CAPABILITY, "--ws-issuer=", "--ws-token-file", "x", "--ws-token-sha256", "zz"], forSigned],
    [[...CAPABILITY, "--ws-shared-secret-file", "x"], forSigned],
    [
      [...CAPABILITY, "--listen", "bad"],
      "`--ws-token-file` or `--ws-token-sha256` is required when `--ws-auth capability-token` is set",
    ],
    [
      [...CAPABILITY, "--ws-token-file", "x", "--ws-token-sha256", "zz"],
      "`--ws-token-file` and `--ws-token-sha256` are mutually exclusive",
    ],
    [
      [...CAPABILITY, "--ws-token-sha256", "zz", "--listen", "bad"],
      "--ws-token-sha256 must be a 64-character hex SHA-256 digest",
    ],
    [[...CAPABILITY, "--ws-token-sha256="], "--ws-token-sha256 must be a 64-character hex SHA-256 digest"],
    [[...SIGNED, "--ws-token-file", "x"], forCapability],
    [[...SIGNED], "`--ws-shared-secret-file` is required when `--ws-auth signed-bearer-token` is set"],
    [
      [...CAPABILITY, "--ws-token-file", "x", "--listen", "stdio"],
      "WebSocket auth requires a WebSocket listener, not stdio",
    ],
    [
      [...CAPABILITY, "--ws-token-file", "x", "--listen", "bad"],
      "unsupported --listen URL `bad`; expected `ws://IP:PORT` or `stdio`",
    ],
  ];
  for (const [argv, sentence] of cases) expectFailure(argv, sentence);
});
