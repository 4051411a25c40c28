/** Makes `dist/exec-server`, one executable for this system. `DENORT_BIN` names the run-time base if it cannot be downloaded. */

const output = Deno.build.os === "windows" ? "dist/exec-server.exe" : "dist/exec-server";
await Deno.mkdir("dist", { recursive: true });
const { code } = await new Deno.Command(Deno.execPath(), {
  args: ["compile", "--allow-all", "--frozen", "--output", output, "main.ts"],
}).output();
if (code !== 0) {
  console.error(
    "compile: deno compile failed. It downloads a run-time base of about 85 MB on first use; where that is impossible, " +
      "set DENORT_BIN to a denort executable of the same version as this deno.",
  );
  Deno.exit(1);
}
const { stdout } = await new Deno.Command(output, { args: ["--version"] }).output();
console.log(`${output}: ${new TextDecoder().decode(stdout).trim()}`);
