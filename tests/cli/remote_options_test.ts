import assert from "node:assert/strict";
import { forward } from "../../lib/cli/forward.ts";
import { type RemoteOptions, remoteOptions } from "../../lib/cli/remote_options.ts";
import { FakeCli } from "./fake_cli.ts";
import { parseServeOptions } from "../../lib/cli/serve_options.ts";
import { remoteOptionsOf } from "../../lib/cli/remote_run.ts";

const PLACE = ["--remote", "https://registry.example", "--environment-id", "env"];

function ofServer(...argv: string[]): RemoteOptions {
  const command = parseServeOptions([...PLACE, ...argv], () => undefined);
  if (command.kind !== "remote") throw new TypeError(`not remote mode: ${command.kind}`);
  return remoteOptionsOf(command.options);
}

function ofForward(...argv: string[]): RemoteOptions {
  return remoteOptions(forward.read!([...PLACE, "--connect", "ws://127.0.0.1:1", ...argv], new FakeCli()));
}

Deno.test("the options of remote mode are read by the server and by forward alike", () => {
  const trusted = ["a.example", "b.example"];
  const trust = trusted.flatMap((host) => ["--trust-registry", host]);
  const cases: [string[], Partial<RemoteOptions>][] = [
    [[], { credential: { kind: "environment", trusted: [] }, aws: null, exitOnStdinClose: false, logLevel: "info" }],
    [trust, { credential: { kind: "environment", trusted } }],
    [["--use-agent-identity-auth", ...trust], { credential: { kind: "agentIdentity", trusted } }],
    [["--registration-bearer-stdin"], { credential: { kind: "bearerLine" } }],
    [["--registration-bearer-file", "f"], { credential: { kind: "bearerFile", path: "f" } }],
    [["--executor-credential-stdin"], { credential: { kind: "executorCredential" } }],
    [["--exit-on-stdin-close"], { exitOnStdinClose: true }],
    [["--log-level", "warn"], { logLevel: "warn" }],
  ];
  for (const [argv, expected] of cases) {
    for (const options of [ofServer(...argv), ofForward(...argv)]) {
      assert.deepEqual({ ...options, ...expected }, options, argv.join(" "));
      assert.deepEqual([options.registry, options.environmentId], ["https://registry.example", "env"]);
    }
  }
});

Deno.test("what only the server takes of remote mode is read", () => {
  const token = ["--chatgpt-token-stdin", "--chatgpt-account-id", "acc"];
  assert.deepEqual(ofServer(...token).credential, { kind: "chatGptToken", accountId: "acc" });
  const signed = ["--remote-transport", "direct", "--aws-sigv4"];
  assert.deepEqual(ofServer(...signed).aws, { profile: undefined, region: undefined, service: "execute-api" });
  const all = ["--aws-profile", "p", "--aws-region", "r", "--aws-service", "s"];
  assert.deepEqual(ofServer(...signed, ...all).aws, { profile: "p", region: "r", service: "s" });
});
