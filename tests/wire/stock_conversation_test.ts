import assert from "node:assert/strict";
import { EXTENSIONS_CAPABILITY } from "../../lib/protocol/extensions.ts";
import { converse, readExchanges, writeExchanges } from "./stock_conversation.ts";
import { ownProgram } from "./target.ts";

/** Recorded from this server as it was before it had methods of its own; the capabilities of sandboxes came later. */
const RECORDED = await Deno.readTextFile(new URL("./stock_conversation.txt", import.meta.url));
const ignore = Deno.build.os !== "linux";

for (const carrier of ["ws", "stdio"] as const) {
  Deno.test({
    name:
      `a stock conversation is byte for byte what it was before the extensions, but for their capability, over ${carrier}`,
    ignore,
    async fn() {
      const recorded = readExchanges(RECORDED);
      assert.equal(writeExchanges(recorded), RECORDED);
      const messages = recorded.map(({ sent }) => sent);
      const exchanges = await converse(ownProgram().words, carrier, messages, async (index, received, heard) => {
        while (received.length < recorded[index]!.received.length) await heard();
      });
      const announcement = `,"${EXTENSIONS_CAPABILITY}":true`;
      const text = writeExchanges(exchanges);
      // One for initialize and each of the two environment/info.
      assert.equal(text.split(announcement).length - 1, 3);
      assert.equal(text.replaceAll(announcement, ""), RECORDED);
    },
  });
}
