import { encodeBase64 } from "../base64.ts";
import { FileError } from "../client/file_error.ts";
import type { Cli, Command } from "./command.ts";
import type { CommandArguments } from "./command_arguments.ts";
import { environmentPath } from "./copy/place.ts";
import { openClient } from "./open_client.ts";
import { printable, printJson, say } from "./say.ts";

export async function runCat(cat: Command, args: CommandArguments, cli: Cli): Promise<number> {
  await using client = await openClient(args, cat, cli);
  const asJson = args.has("--json");
  let code = 0;
  for (const path of args.operands.map(environmentPath)) {
    try {
      let offset = 0;
      for await (const block of await client.files.open(path)) {
        await (asJson ? printJson(cli, { path, offset, base64: encodeBase64(block) }) : cli.stdout.write(block));
        offset += block.length;
      }
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      await say(cli, printable(cli.stderr, `${path}: ${error.message}`));
      code = 1;
    }
  }
  return code;
}
