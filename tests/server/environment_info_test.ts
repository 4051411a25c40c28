import assert from "node:assert/strict";
import { EXTENSIONS_CAPABILITY } from "../../lib/protocol/extensions.ts";
import { environmentInfo } from "../../lib/server/environment_info.ts";
import { VERSION, WIRE_VERSION } from "../../lib/version.ts";

// Opens the C library before a test could be blamed for it.
if (Deno.build.os === "linux") await import("../../lib/process/linux/machine.ts");

const MODULE = new URL("../../lib/server/environment_info.ts", import.meta.url).href;

Deno.test("environmentInfo names the wire's version and, in a member of its own, ours", async () => {
  const { executorVersion, serverInfo } = await environmentInfo();
  assert.equal(executorVersion, WIRE_VERSION);
  assert.deepEqual(serverInfo, { name: "exec-server", version: VERSION });
});

Deno.test("environmentInfo reports no capability that does not work", async () => {
  const { capabilities } = await environmentInfo();
  const working = Object.entries(capabilities).filter(([, works]) => works).map(([name]) => name).sort();
  const onLinux = [
    "capabilityDiscoverySandbox",
    "linuxApprovedRootWritePreservesRestrictions",
    "linuxRootWritePreservesDevices",
    "sandboxedFileStreaming",
  ];
  const everywhere = [
    "capabilityDiscoveryV2",
    "environmentConfigRead",
    EXTENSIONS_CAPABILITY,
    "fileWriteStreaming",
    "fsWatchMissing",
    "httpHeaderEnvVars",
  ];
  assert.deepEqual(working, [...everywhere, ...(Deno.build.os === "linux" ? onLinux : [])].sort());
});

Deno.test("every start of one installation by one user has the same providerId, and may write nothing", async () => {
  const start = async () => {
    const code =
      `const { environmentInfo } = await import("${MODULE}"); console.log((await environmentInfo()).providerId)`;
    const args = ["run", "--quiet", "--allow-read", "--allow-env", "--allow-sys", "--allow-ffi", "--deny-write", "-"];
    const child = new Deno.Command(Deno.execPath(), { args, stdin: "piped", stdout: "piped", stderr: "inherit" });
    await using process = child.spawn();
    await new Blob([code]).stream().pipeTo(process.stdin);
    return new TextDecoder().decode(await new Response(process.stdout).arrayBuffer()).trim();
  };
  const [first, second] = [await start(), await start()];
  assert.match(first, /^sha256:[0-9a-f]{64}$/);
  assert.equal(second, first);
  assert.equal((await environmentInfo()).providerId, first);
});
