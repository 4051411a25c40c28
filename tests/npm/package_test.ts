import assert from "node:assert/strict";
import ts from "typescript";
import config from "../../deno.json" with { type: "json" };
import { buildPackage } from "../../scripts/npm.ts";
import { RawWebSocketServer } from "../client/support/raw_websocket_server.ts";
import { inTime } from "../program/eventually.ts";
import { OUR_COMMAND, RunningServer } from "../program/running_server.ts";
import { Rig } from "../relay/support/rig.ts";
import { Control } from "./control.ts";
import { browserPath, runPage } from "./browser.ts";

const HERE = new URL(".", import.meta.url).pathname;
const PROJECT = new URL("../../", import.meta.url).pathname;

/** What the smoke test sees, if all is well. */
const SEEN = {
  echo: "hällo\n",
  input: "100000",
  file: true,
  rest: 10,
  missing: "FileError NotFound",
  body: "the body",
  counted: 50,
  code: 0,
  state: "connected",
  ended: "exec-server transport closed",
};

/** A program that uses what the package exports, without the types of Deno or Node.js. */
const CONSUMER = `
import { connect, type Environment, type ExecProcess, ClientError } from "PACKAGE/client/mod.js";
import { REQUESTS } from "PACKAGE/protocol/mod.js";
const environment: Environment = await connect("ws://127.0.0.1:1", { token: "secret" });
const process: ExecProcess = await environment.start({ argv: ["true"] });
const text: string = await environment.files.readTextFile("/etc/hostname");
export { ClientError, process, REQUESTS, text };
`;

/** What the compiler finds wrong with the package's own types and with a program that uses them. */
function typeFaults(directory: string): string[] {
  const consumer = `${directory}/consumer.ts`;
  Deno.writeTextFileSync(consumer, CONSUMER.replaceAll("PACKAGE", "."));
  const program = ts.createProgram([consumer], {
    ...{ strict: true, skipLibCheck: false, types: [], noEmit: true, exactOptionalPropertyTypes: true },
    ...{ target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext },
    ...{
      moduleResolution: ts.ModuleResolutionKind.Bundler,
      lib: [
        "lib.es2024.d.ts",
        "lib.dom.d.ts",
        "lib.dom.iterable.d.ts",
        "lib.dom.asynciterable.d.ts",
        "lib.esnext.disposable.d.ts",
      ],
    },
  });
  const host = {
    getCanonicalFileName: (name: string) => name,
    getCurrentDirectory: () => directory,
    getNewLine: () => "\n",
  };
  return ts.getPreEmitDiagnostics(program).map((each) => ts.formatDiagnostic(each, host));
}

/** Built once for all tests of this file. */
const directory = await Deno.makeTempDir({ prefix: "exec-server-npm-" });
globalThis.addEventListener("unload", () => Deno.removeSync(directory, { recursive: true }));
const [builtPackage, scratch] = [`${directory}/package`, `${directory}/scratch`];
await Deno.mkdir(scratch);
await buildPackage(builtPackage);

/** An engine that `npx` fetches. */
async function canRun(engine: string): Promise<boolean> {
  const { success } = await npx([engine, "--version"]).catch(() => ({ success: false }));
  if (!success) console.error(`${engine} cannot be had here: its test is skipped`);
  return success;
}

function npx(args: readonly string[]): Promise<Deno.CommandOutput> {
  return new Deno.Command("npx", { args: ["-y", ...args], env: { NO_COLOR: "1" }, clearEnv: false }).output();
}

/** Installs the package somewhere, and what it depends on with it. */
async function canInstall(): Promise<boolean> {
  await Deno.mkdir(consumer);
  await Deno.writeTextFile(`${consumer}/package.json`, "{}");
  const args = ["install", "--install-links", "--no-audit", "--no-fund", builtPackage];
  const command = new Deno.Command("npm", { args, cwd: consumer, env: { NO_COLOR: "1" } });
  const { success } = await command.output().catch(() => ({ success: false }));
  if (!success) console.error("the package's dependencies cannot be had here: tests of the relay are skipped");
  return success;
}

const consumer = `${directory}/consumer`;
const installedPackage = `${consumer}/node_modules/${config.name}`;
const [NODE, BUN] = ["node@22", "bun@1"];
const engines = Promise.all([canRun(NODE), canRun(BUN), canInstall()]);
const [[hasNode, hasBun, isInstalled], browser] = await Promise.all([engines, browserPath()]);

async function smoke(words: readonly string[], extra: Record<string, unknown> = {}): Promise<Record<string, unknown>> {
  await using server = await RunningServer.start({ command: OUR_COMMAND });
  await using control = new Control(server.url);
  return await seen(words, builtPackage, { url: control.proxy.url, control: control.url, ...extra });
}

/** The same through the relay, with the package and what it depends on as npm installs them. */
async function relaySmoke(words: readonly string[]): Promise<Record<string, unknown>> {
  await using rig = await Rig.start();
  await using control = new Control(rig.world.registryUrl);
  control.cutting = { cut: () => rig.world.rendezvous.cut("harness") };
  return await seen(words, installedPackage, { relay: rig.relay, control: control.url });
}

async function seen(
  words: readonly string[],
  from: string,
  place: Record<string, unknown>,
): Promise<Record<string, unknown>> {
  const entry = `file://${from}/client/mod.js`;
  const { stdout, stderr, code } = await npx([...words, entry, JSON.stringify({ ...place, directory: scratch })]);
  assert.equal(code, 0, new TextDecoder().decode(stderr));
  return JSON.parse(new TextDecoder().decode(stdout).trim().split("\n").at(-1)!);
}

const [program, ...args] = OUR_COMMAND;
const command = { program, args: [...args, "--listen", "stdio"], cwd: PROJECT };

Deno.test({
  name: "the package does all its work under Node.js 22",
  ignore: !hasNode,
  async fn() {
    assert.deepEqual(await smoke([NODE, `${HERE}main.js`], { command }), { ...SEEN, child: "child\n" });
  },
});

Deno.test({
  name: "under Node.js a server that does not answer the end of its connection keeps no program alive",
  ignore: !hasNode,
  async fn() {
    const ended = Promise.withResolvers<void>();
    await using server = new RawWebSocketServer(async ({ tcp, accept }) => {
      await accept();
      const chunk = new Uint8Array(1024);
      while (await tcp.read(chunk) !== null);
      ended.resolve();
    });
    const run = npx([NODE, `${HERE}unanswered.js`, `file://${builtPackage}/client/mod.js`, server.url]);
    await inTime("the end of the program's socket", ended.promise);
    const { stdout } = await run;
    assert.equal(
      new TextDecoder().decode(stdout),
      "timed out waiting for exec-server initialize handshake after 50ms\n",
    );
  },
});

Deno.test({
  name: "the package does all its work under Bun",
  ignore: !hasBun,
  async fn() {
    assert.deepEqual(await smoke([BUN, `${HERE}main.js`], { command }), { ...SEEN, child: "child\n" });
  },
});

for (const [engine, words, hasEngine] of [["Node.js 22", NODE, hasNode], ["Bun", BUN, hasBun]] as const) {
  Deno.test({
    name: `the package does all its work through the relay under ${engine}`,
    ignore: !hasEngine || !isInstalled || Deno.build.os !== "linux",
    async fn() {
      assert.deepEqual(await relaySmoke([words, `${HERE}main.js`]), SEEN);
    },
  });
}

Deno.test({
  name: "the package does all but commands where there is only what a browser has",
  ignore: !hasNode,
  async fn() {
    assert.deepEqual(await smoke([NODE, "--experimental-vm-modules", `${HERE}context.js`]), SEEN);
  },
});

Deno.test({
  name: "the package does all but commands in a browser, whose origin the server has to allow",
  ignore: browser === null,
  async fn() {
    assert.deepEqual(await runPage(browser!, builtPackage, scratch), SEEN);
  },
});

Deno.test("the package names what it is and what it needs, and its types stand by themselves", async () => {
  const { name, version, license, engines, dependencies } = JSON.parse(
    await Deno.readTextFile(`${builtPackage}/package.json`),
  );
  assert.deepEqual({ name, version, license, engines, dependencies }, {
    ...{ name: config.name, version: config.version, license: config.license },
    engines: { node: ">=22" },
    dependencies: {
      "@noble/ciphers": "2.4.0",
      "@noble/curves": "2.4.0",
      "@noble/post-quantum": "0.7.1",
      "protobufjs": "8.8.1",
      "toml-eslint-parser": "1.0.3",
      "ws": "8.23.0",
    },
  });
  assert.deepEqual(typeFaults(builtPackage), []);
});
