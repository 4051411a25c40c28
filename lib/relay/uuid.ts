/** With hyphens or without, in braces, or as a URN. Source: what the reference's library reads. */
const UUID = /^(?:urn:uuid:)?([0-9a-f]{8})(-?)([0-9a-f]{4})\2([0-9a-f]{4})\2([0-9a-f]{4})\2([0-9a-f]{12})$/i;

/** A text that is a UUID, in lower case and with hyphens; undefined: it is none. */
export function uuidOf(text: string): string | undefined {
  const inner = /^\{(.*-.*)\}$/.exec(text)?.[1] ?? text;
  const parts = UUID.exec(inner);
  if (parts === null || (inner !== text && /^urn/i.test(inner))) return undefined;
  return [parts[1], parts[3], parts[4], parts[5], parts[6]].join("-").toLowerCase();
}
