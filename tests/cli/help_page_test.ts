import assert from "node:assert/strict";
import { HELP_OPTION, parseCommand } from "../../lib/cli/parse_command.ts";
import { COMMANDS, loadCommands } from "../../lib/cli/commands.ts";
import { helpPage } from "../../lib/cli/help_page.ts";
import { overview } from "../../lib/cli/overview.ts";
import { FakeCli } from "./fake_cli.ts";

const commands = await loadCommands();

Deno.test("commands are listed under the names that they have", () => {
  assert.deepEqual(commands.map(({ name }) => name), COMMANDS.map(({ name }) => name));
  assert.equal(new Set(commands.map(({ name }) => name)).size, commands.length);
});

for (const command of commands) {
  Deno.test(`the page of ${command.name} is whole, names every option and fits its terminal`, () => {
    const cli = new FakeCli();
    cli.size = { rows: 24, columns: 72 };
    const page = helpPage(command, cli);
    for (const title of ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS", "ENVIRONMENT", "EXAMPLES"]) {
      assert.match(page, new RegExp(`^${title}$`, "m"));
    }
    const examples = command.examples.map(([line]) => `exec-server ${line}`);
    for (const line of page.split("\n")) {
      assert.ok(line.length <= 72 || examples.includes(line.trim()), line);
      assert.equal(line, line.trimEnd());
    }
    for (const { name, help } of [...command.options, HELP_OPTION]) {
      assert.match(page, new RegExp(`^ {7}(-\\w, )?${name}( <|$)`, "m"));
      assert.match(help, /\.$|\)$/, `${name}: a sentence`);
    }
    assert.doesNotMatch(command.summary, /\.$|^[A-Z]/);
  });

  Deno.test(`options of ${command.name} do not share a name`, () => {
    const names = [...command.options, HELP_OPTION].flatMap(({ name, short }) => [name, ...(short ? [short] : [])]);
    assert.deepEqual(names, [...new Set(names)]);
  });

  Deno.test(`the examples of ${command.name} are well-formed`, () => {
    for (const [line] of command.examples) {
      const [name, ...argv] = words(line.replace(/ [>|] .*/, ""));
      assert.equal(name, command.name);
      parseCommand(command, argv);
    }
  });
}

/** Words of a command line, with single quotes as a shell has them. */
function words(line: string): string[] {
  return [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare!);
}

Deno.test("the overview has a line for every command", async () => {
  const text = await overview(COMMANDS, new FakeCli());
  for (const { name, summary } of commands) assert.ok(text.includes(`  ${name} `) && text.includes(summary), name);
  for (const line of text.split("\n")) assert.ok(line.length <= 120, line);
});
