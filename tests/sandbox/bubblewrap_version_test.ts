import assert from "node:assert/strict";
import { bubblewrapVersion } from "../../lib/sandbox/bubblewrap_version.ts";

Deno.test("bubblewrapVersion knows what each version can do", () => {
  const features = (text: string) => {
    const version = bubblewrapVersion(`bubblewrap ${text}\n`, helpWith("--bind-fd", "--ro-bind-fd"));
    assert.ok(typeof version !== "string", text);
    return [version.text, version.disablesUserNamespaces, version.setsProgramName];
  };
  assert.deepEqual(features("0.5.0"), ["0.5.0", false, false]);
  assert.deepEqual(features("0.8.0"), ["0.8.0", true, false]);
  assert.deepEqual(features("0.9"), ["0.9.0", true, true]);
  assert.deepEqual(features("0.11.0"), ["0.11.0", true, true]);
  assert.deepEqual(features("1.0.0"), ["1.0.0", true, true]);
});

Deno.test("bubblewrapVersion says why a program cannot be used", () => {
  assert.equal(bubblewrapVersion("bubblewrap 0.4.1\n", ""), "version 0.4.1 is too old, 0.5.0 or newer is needed");
  for (const output of ["", "bubblewrap\n", "bwrap 0.8.0", "bubblewrap 0.8.0-evil", "x\nbubblewrap 0.8.0"]) {
    assert.equal(bubblewrapVersion(output, ""), "it does not say that it is bubblewrap", output);
  }
});

Deno.test("bubblewrapVersion wants both options that take descriptors, whatever the number is", () => {
  const says = (...options: string[]) => bubblewrapVersion("bubblewrap 0.8.0\n", helpWith(...options));
  assert.ok(typeof says("--bind", "--bind-fd", "--ro-bind-fd") !== "string");
  for (const options of [["--bind", "--ro-bind", "--ro-bind-fd"], ["--bind-fd", "--ro-bind"], []]) {
    assert.equal(
      says(...options),
      "version 0.8.0 binds no descriptors (--bind-fd), so links could lead it astray; 0.10.0 or newer does",
    );
  }
});

function helpWith(...options: string[]): string {
  return options.map((one) => `    ${one} FD DEST     Bind\n`).join("");
}
