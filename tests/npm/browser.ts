/** Runs the smoke test in a real browser, where there is one. */
import { eventually, inTime } from "../program/eventually.ts";
import { OUR_COMMAND, RunningServer } from "../program/running_server.ts";
import { endWithUs } from "../support/end_with_us.ts";
import { Control } from "./control.ts";

const HERE = new URL(".", import.meta.url).pathname;
const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
const PATIENCE_MS = 60_000;

const PAGE = `<!doctype html><script type="module">
import * as client from "/package/client/mod.js";
import { smoke } from "/tests/smoke.js";
const place = Object.fromEntries(new URLSearchParams(location.search));
const result = await smoke(client, place).catch((error) => String(error.stack ?? error));
await fetch("/result", { method: "POST", body: JSON.stringify(result) });
</script>`;

/** A Chromium: what `EXEC_SERVER_BROWSER` names, or one on the PATH. */
export async function browserPath(): Promise<string | null> {
  const named = Deno.env.get("EXEC_SERVER_BROWSER");
  for (const name of named === undefined ? NAMES : [named]) {
    try {
      await new Deno.Command(name, { args: ["--version"], stdout: "null", stderr: "null" }).output();
      return name;
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }
  return null;
}

/** What a page has seen, or a text that says why it saw nothing. */
export async function runPage(browser: string, builtPackage: string, directory: string): Promise<unknown> {
  // The page's port is known only when the server, which has to allow it, could be running already.
  await using page = new Control("ws://127.0.0.1:1", { package: builtPackage, tests: HERE }, PAGE);
  await using server = await RunningServer.start({ command: OUR_COMMAND, options: ["--allow-origin", page.url] });
  await using control = new Control(server.url);
  page.cutting = control.proxy;
  const place = new URLSearchParams({ url: control.proxy.url, control: page.url, directory });
  const profile = await Deno.makeTempDir({ prefix: "exec-server-browser-" });
  const args = [
    "--headless",
    "--disable-gpu",
    "--no-sandbox",
    `--user-data-dir=${profile}`,
    `${page.url}/page?${place}`,
  ];
  const child = endWithUs(
    new Deno.Command(browser, { args, env: { TMPDIR: profile }, stdin: "null", stdout: "null", stderr: "null" })
      .spawn(),
  );
  try {
    return await inTime("the page's result", page.result, PATIENCE_MS);
  } finally {
    child.kill("SIGTERM");
    await child.status;
    // Processes of its own write there until they notice that it has gone.
    await eventually("the browser has left its profile", () => Deno.removeSync(profile, { recursive: true }));
  }
}
