/**
 * Makes `dist/exec-server`, one executable for this system, and tries it. `DENORT_BIN` names the run-time base if it
 * cannot be downloaded.
 */

const OUTPUT = Deno.build.os === "windows" ? "dist/exec-server.exe" : "dist/exec-server";

await Deno.mkdir("dist", { recursive: true });
await compile();
console.log(`${OUTPUT}: ${await tell(["--version"], "")}`);
const answer = await tell(["--listen", "stdio"], '{"id":1,"method":"initialize","params":{"clientName":"compile"}}\n');
if (!answer.startsWith('{"id":1,"result":')) fail(`${OUTPUT} does not serve: it answered ${JSON.stringify(answer)}`);

async function compile(): Promise<void> {
  const { success } = await new Deno.Command(Deno.execPath(), {
    // What is imported when it is needed has to be named: it is not followed. Types are checked by `deno task ok`; here
    // they would ask the registry for those of Node.js. What the runtime compiles would be kept in /tmp, under a name that
    // everybody can take first: whoever does, from within a sandbox even, would have us run what he likes.
    args: [
      ...["compile", "--allow-all", "--frozen", "--no-check", "--no-code-cache"],
      ...["--include", "lib", "--output", OUTPUT, "main.ts"],
    ],
    stdout: "inherit",
    stderr: "inherit",
  }).output();
  if (success) return;
  fail(
    "deno compile failed. It downloads a run-time base of about 85 MB on first use; where that is impossible, set " +
      "DENORT_BIN to a denort executable of the same version as this deno.",
  );
}

/** What the executable writes for an input. */
async function tell(args: string[], input: string): Promise<string> {
  const child = new Deno.Command(OUTPUT, { args, stdin: "piped", stdout: "piped", stderr: "inherit" }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(input));
  await writer.close();
  const { code, stdout } = await child.output();
  if (code !== 0) fail(`${OUTPUT} ${args.join(" ")} ended with exit code ${code}`);
  return new TextDecoder().decode(stdout).trim();
}

function fail(reason: string): never {
  console.error(`compile: ${reason}`);
  Deno.exit(1);
}
