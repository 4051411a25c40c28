import type { Cli, CommandEntry } from "./command.ts";
import { painter } from "./say.ts";

/** The list of commands, as `--help` without a command shows it below the server's options. */
export async function overview(entries: readonly CommandEntry[], cli: Cli): Promise<string> {
  const commands = await Promise.all(entries.map((entry) => entry.load()));
  const paint = painter(cli, cli.stdout);
  const width = Math.max(...commands.map(({ name }) => name.length));
  const lines = commands.map(({ name, summary }) => `  ${paint("bold", name.padEnd(width))}  ${summary}\n`);
  return `Commands (without one it is the server):\n${lines.join("")}
Try 'exec-server exec -- echo hello' first: it needs no server. 'exec-server COMMAND --help' has a page for each.
`;
}
