/** As the reference reads one: with hyphens, then perhaps in braces or as a URN, or without. Seen. */
const UUID = /^(?:(\{)|urn:uuid:)?([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})(\})?$/i;
const SIMPLE = /^([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/i;

/** A text that is a UUID, in lower case and with hyphens; undefined: it is none. */
export function uuidOf(text: string): string | undefined {
  const simple = SIMPLE.exec(text);
  if (simple !== null) return simple.slice(1).join("-").toLowerCase();
  const [, opened, uuid, closed] = UUID.exec(text) ?? [];
  if (uuid === undefined || (opened === undefined) !== (closed === undefined)) return undefined;
  // The prefix is not read in capitals.
  return /^URN/i.test(text) && !text.startsWith("urn:uuid:") ? undefined : uuid.toLowerCase();
}
