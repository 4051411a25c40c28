/** What the reference says of each command line of remote mode, apart from the name that it calls itself. */
import assert from "node:assert/strict";
import { forward } from "../../lib/cli/forward.ts";
import { parseServeOptions } from "../../lib/cli/serve_options.ts";
import { UsageError } from "../../lib/cli/usage_error.ts";
import { FakeCli } from "./fake_cli.ts";

const VARIABLE = "CODEX_EXEC_SERVER_EXIT_ON_STDIN_CLOSE";
const REMOTE = ["--remote", "http://127.0.0.1:9"];
const BOTH = [...REMOTE, "--environment-id", "x"];
const CONNECT = ["--connect", "ws://127.0.0.1:10"];

type Parse = (argv: readonly string[]) => unknown;
const parse: Parse = (argv) => parseServeOptions(argv, () => undefined);
const parseForward: Parse = (argv) => forward.read!(argv, new FakeCli());

function expectUsage(parse: Parse, program: string, argv: readonly string[], error: string, usage: string): void {
  const text = `error: ${error}\n\nUsage: ${program} ${usage}\n\nFor more information, try '--help'.`;
  assert.throws(() => parse(argv), new UsageError(2, text), argv.join(" "));
}

const missing = (names: string) =>
  ["the following required arguments were not provided:", ...names.split(", ")].join("\n  ");
const conflict = (one: string, ...others: string[]) =>
  `the argument '${one}' cannot be used with` +
  (others.length === 1 ? ` '${others[0]}'` : `:\n  ${others.join("\n  ")}`);

Deno.test("options of remote mode demand what they need", () => {
  const both = "--environment-id <ID> --remote <URL>";
  const cases: [string[], string, string][] = [
    [REMOTE, "--environment-id <ID>", both],
    ...["--use-agent-identity-auth", "--registration-bearer-stdin", "--executor-credential-stdin", "--aws-sigv4"].map(
      (flag): [string[], string, string] => [[flag], "--environment-id <ID>, --remote <URL>", `${both} ${flag}`],
    ),
    [["--chatgpt-token-stdin"], "--environment-id <ID>, --remote <URL>", `${both} --chatgpt-token-stdin`],
    [
      ["--chatgpt-account-id", "z"],
      "--remote <URL>, --environment-id <ID>, --chatgpt-token-stdin",
      "--remote <URL> --environment-id <ID> --chatgpt-token-stdin --chatgpt-account-id <ID>",
    ],
    [
      [...BOTH, "--chatgpt-account-id="],
      "--chatgpt-token-stdin",
      `${both} --chatgpt-token-stdin --chatgpt-account-id <ID>`,
    ],
    [
      ["--remote-transport", "direct"],
      "--environment-id <ID>, --remote <URL>, --aws-sigv4",
      `${both} --aws-sigv4 --remote-transport <REMOTE_TRANSPORT>`,
    ],
    [
      ["--remote-transport", "noise"],
      "--environment-id <ID>, --remote <URL>",
      `${both} --remote-transport <REMOTE_TRANSPORT>`,
    ],
    [
      [...BOTH, "--remote-transport=direct"],
      "--aws-sigv4",
      `${both} --aws-sigv4 --remote-transport <REMOTE_TRANSPORT>`,
    ],
    [[...BOTH, "--aws-profile", "p"], "--aws-sigv4", `${both} --aws-sigv4 --aws-profile <PROFILE>`],
    [
      ["--aws-region", "r"],
      "--remote <URL>, --environment-id <ID>, --aws-sigv4",
      "--remote <URL> --environment-id <ID> --aws-sigv4 --aws-region <REGION>",
    ],
    [
      ["--aws-service", "r", ...REMOTE],
      "--environment-id <ID>, --aws-sigv4",
      "--remote <URL> --environment-id <ID> --aws-sigv4 --aws-service <SERVICE>",
    ],
    [
      [...BOTH, "--aws-service", "s", "--aws-region", "r", "--aws-profile", "p"],
      "--aws-sigv4",
      `${both} --aws-sigv4 --aws-service <SERVICE> --aws-region <REGION> --aws-profile <PROFILE>`,
    ],
    [
      ["--listen", "stdio", "--aws-sigv4"],
      "--environment-id <ID>, --remote <URL>",
      `${both} --listen <URL> --aws-sigv4`,
    ],
    [
      ["--listen", "stdio", "--remote-transport", "direct"],
      "--environment-id <ID>, --remote <URL>, --aws-sigv4",
      `${both} --aws-sigv4 --listen <URL> --remote-transport <REMOTE_TRANSPORT>`,
    ],
    [["--trust-registry", "h"], "--environment-id <ID>, --remote <URL>", `${both} --trust-registry <HOST>`],
    [
      ["--registration-bearer-file", "f"],
      "--environment-id <ID>, --remote <URL>",
      `${both} --registration-bearer-file <PATH>`,
    ],
  ];
  for (const [argv, names, usage] of cases) expectUsage(parse, "exec-server", argv, missing(names), usage);
});

Deno.test("options of remote mode exclude each other", () => {
  const cases: [string[], string, string][] = [
    [
      ["--registration-bearer-stdin", "--executor-credential-stdin"],
      conflict("--registration-bearer-stdin", "--executor-credential-stdin"),
      "--remote <URL> --registration-bearer-stdin",
    ],
    [
      [...REMOTE, "--registration-bearer-stdin", "--executor-credential-stdin"],
      conflict("--registration-bearer-stdin", "--executor-credential-stdin"),
      "--environment-id <ID> --remote <URL> --registration-bearer-stdin",
    ],
    [
      ["--registration-bearer-stdin", "--executor-credential-stdin", "--chatgpt-token-stdin"],
      conflict("--registration-bearer-stdin", "--executor-credential-stdin", "--chatgpt-token-stdin"),
      "--remote <URL> --registration-bearer-stdin",
    ],
    [
      ["--executor-credential-stdin", "--listen", "stdio", "--chatgpt-token-stdin", ...REMOTE],
      conflict("--executor-credential-stdin", "--chatgpt-token-stdin"),
      "--environment-id <ID> --executor-credential-stdin --listen <URL> --remote <URL>",
    ],
    [
      ["--remote-transport", "noise", "--registration-bearer-stdin", "--executor-credential-stdin"],
      conflict("--registration-bearer-stdin", "--executor-credential-stdin"),
      "--remote <URL> --aws-sigv4 --remote-transport <REMOTE_TRANSPORT> --registration-bearer-stdin",
    ],
    [
      ["--remote-transport=noise", ...REMOTE, "--registration-bearer-stdin", "--executor-credential-stdin"],
      conflict("--registration-bearer-stdin", "--executor-credential-stdin"),
      "--aws-sigv4 --environment-id <ID> --remote-transport <REMOTE_TRANSPORT> --remote <URL> " +
      "--registration-bearer-stdin",
    ],
    [
      [...BOTH, "--remote-transport", "direct", "--aws-sigv4", "--use-agent-identity-auth"],
      conflict("--aws-sigv4", "--use-agent-identity-auth"),
      "--remote <URL> --environment-id <ID> --remote-transport <REMOTE_TRANSPORT> --aws-sigv4",
    ],
    [
      [
        ...["--executor-credential-stdin", "--use-agent-identity-auth", "--aws-sigv4", "--registration-bearer-stdin"],
        ...BOTH,
      ],
      conflict(
        "--executor-credential-stdin",
        "--use-agent-identity-auth",
        "--aws-sigv4",
        "--registration-bearer-stdin",
      ),
      "--executor-credential-stdin --remote <URL> --environment-id <ID>",
    ],
    [
      ["--listen", "stdio", ...BOTH],
      conflict("--listen <URL>", "--remote <URL>"),
      "--listen <URL> --environment-id <ID>",
    ],
    [
      [...BOTH, "--registration-bearer-file", "f", "--trust-registry", "h"],
      conflict("--registration-bearer-file <PATH>", "--trust-registry <HOST>"),
      "--remote <URL> --environment-id <ID> --registration-bearer-file <PATH>",
    ],
    [
      [...BOTH, "--registration-bearer-file", "f", "--chatgpt-token-stdin"],
      conflict("--registration-bearer-file <PATH>", "--chatgpt-token-stdin"),
      "--remote <URL> --environment-id <ID> --registration-bearer-file <PATH>",
    ],
  ];
  for (const [argv, error, usage] of cases) expectUsage(parse, "exec-server", argv, error, usage);
});

Deno.test("forward reads its own options, in the reference's words", () => {
  const all = "--remote <URL> --environment-id <ID> --connect <URL>";
  const unexpected = (arg: string) => `unexpected argument '${arg}' found`;
  const cases: [string[], string, string][] = [
    [[], missing("--remote <URL>, --environment-id <ID>, --connect <URL>"), all],
    [CONNECT, missing("--remote <URL>, --environment-id <ID>"), all],
    [BOTH, missing("--connect <URL>"), all],
    [["--aws-sigv4"], missing("--remote <URL>, --environment-id <ID>, --connect <URL>"), `${all} --aws-sigv4`],
    [
      ["--exit-on-stdin-close", ...CONNECT],
      missing("--remote <URL>, --environment-id <ID>"),
      `${all} --exit-on-stdin-close`,
    ],
    [
      ["--remote-transport", "direct", ...BOTH, ...CONNECT],
      missing("--aws-sigv4"),
      `${all} --aws-sigv4 --remote-transport <REMOTE_TRANSPORT>`,
    ],
    [[...BOTH, ...CONNECT, "--aws-profile", "p"], missing("--aws-sigv4"), `${all} --aws-sigv4 --aws-profile <PROFILE>`],
    [
      ["--registration-bearer-stdin", "--executor-credential-stdin", "--aws-sigv4"],
      conflict("--registration-bearer-stdin", "--executor-credential-stdin", "--aws-sigv4"),
      `${all} --registration-bearer-stdin`,
    ],
    [
      [...CONNECT, "--registration-bearer-stdin", "--executor-credential-stdin"],
      conflict("--registration-bearer-stdin", "--executor-credential-stdin"),
      `${all} --registration-bearer-stdin`,
    ],
    [["--bogus"], unexpected("--bogus"), `[OPTIONS] ${all}`],
    [["foo"], unexpected("foo"), `[OPTIONS] ${all}`],
    [[...REMOTE, "forward"], unexpected("forward"), `[OPTIONS] ${all}`],
    [[...CONNECT, "--bogus"], unexpected("--bogus"), all],
    [["--listen", "stdio"], unexpected("--listen"), `[OPTIONS] ${all}`],
    [["--chatgpt-token-stdin"], unexpected("--chatgpt-token-stdin"), `[OPTIONS] ${all}`],
    [["--chatgpt-account-id", "q"], unexpected("--chatgpt-account-id"), `[OPTIONS] ${all}`],
    [["--connec", "x"], `${unexpected("--connec")}\n\n  tip: a similar argument exists: '--connect'`, all],
    [[...CONNECT, ...CONNECT], "the argument '--connect <URL>' cannot be used multiple times", `[OPTIONS] ${all}`],
    [
      ["--use-agent-identity-auth=1"],
      "unexpected value '1' for '--use-agent-identity-auth' found; no more were expected",
      `${all} --use-agent-identity-auth`,
    ],
  ];
  for (const [argv, error, usage] of cases) expectUsage(parseForward, "exec-server forward", argv, error, usage);
});

Deno.test("forward has a variable for the end of standard input as well, and a page", () => {
  const cli = new FakeCli();
  cli.variables[VARIABLE] = "true";
  const args = forward.read!([...BOTH, ...CONNECT, "--trust-registry", "a", "--trust-registry=b"], cli);
  assert.equal(args.has("--exit-on-stdin-close"), true);
  assert.deepEqual(args.all("--trust-registry"), ["a", "b"]);
  cli.variables[VARIABLE] = "1";
  assert.throws(() => forward.read!([...BOTH, ...CONNECT], cli), {
    exitCode: 2,
    message: /^error: invalid value '1' for '--exit-on-stdin-close'\n/,
  });
  assert.equal(forward.read!(["--help", "--bogus"], cli).has("--help"), true);
});

for (
  const [argv, sentence] of [
    [["--aws-sigv4"], "--aws-sigv4 requires --remote-transport direct"],
    [["--aws-sigv4", "--remote-transport", "direct"], "direct exec-server transport does not support forwarding"],
  ] as const
) {
  Deno.test(`forward refuses ${argv.join(" ")}`, async () => {
    const cli = new FakeCli();
    const args = forward.read!([...BOTH, ...CONNECT, ...argv], cli);
    await assert.rejects(forward.run(args, cli), new UsageError(1, `Error: ${sentence}`));
  });
}

Deno.test("what only a listener has a use for is refused in remote mode", () => {
  const refused = (argv: string[], sentence: string) =>
    assert.throws(() => parse(argv), new UsageError(1, `Error: ${sentence}`), argv.join(" "));
  const auth = ["--ws-auth", "capability-token", "--ws-token-file", "/token"];
  const listenerAuth = "WebSocket listener auth cannot be used with --remote or forward";
  refused([...BOTH, ...auth], listenerAuth);
  refused([...auth, "forward", ...BOTH, "--connect", "nope"], listenerAuth);
  refused([...BOTH, "--aws-sigv4", ...auth], "--aws-sigv4 requires --remote-transport direct");
  refused(
    [...BOTH, "--ws-auth", "capability-token"],
    "`--ws-token-file` or `--ws-token-sha256` is required when " +
      "`--ws-auth capability-token` is set",
  );
  refused(
    [...BOTH, "--allow-origin", "https://a.example"],
    "`--allow-origin` cannot be used with --remote or forward",
  );
});

Deno.test("parseServeOptions leaves what remote mode is told to who runs it", () => {
  const command = parseServeOptions(
    [...BOTH, "--concurrent-requests", "4", "--max-detached", "1h", "--trust-registry", "a", "--trust-registry", "b"],
    (name) => name === VARIABLE ? "true" : undefined,
  );
  assert.equal(command.kind, "remote");
  const { args, ...rest } = (command as Extract<typeof command, { kind: "remote" }>).options;
  assert.deepEqual(rest, {
    concurrentRequests: 4,
    maxDetachedMs: 3_600_000,
    sandbox: "auto",
    trustedRegistries: ["a", "b"],
  });
  assert.deepEqual([args.get("--environment-id"), args.has("--exit-on-stdin-close")], ["x", true]);
});

Deno.test("--trust-registry takes hosts, and nothing around them", () => {
  for (const host of ["registry.example", "10.0.0.1", "::1"]) parse([...BOTH, "--trust-registry", host]);
  for (const host of ["", "https://registry.example", "registry.example:443", "*.example", "registry.example/"]) {
    assert.throws(() => parse([...BOTH, `--trust-registry=${host}`]), {
      exitCode: 2,
      message: /^error: invalid value '.*' for '--trust-registry <HOST>': a host name or an IP address is expected/,
    });
  }
});

Deno.test("options without effect are accepted, and named", () => {
  const local = parse(["--environment-id", "x", "--name", "y"]) as { kind: string; options: { idle: string[] } };
  assert.deepEqual([local.kind, local.options.idle], ["serve", ["--environment-id", "--name"]]);
  assert.deepEqual(parse(["--concurrent-requests", "2", "--log-level", "off", "forward", "--bogus", "--help"]), {
    kind: "forward",
    argv: ["--log-level=off", "--bogus", "--help"],
    idle: ["--concurrent-requests"],
  });
});
