/**
 * The results in the order of the items, some of which are worked on side by side. Leaving early begins no more; what was
 * begun comes to its end unheard.
 *
 * @param atOnce How many at most.
 */
export async function* inOrder<T, R>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<R>,
): AsyncGenerator<R> {
  const running: Promise<R>[] = [];
  let next = 0;
  try {
    while (next < items.length || running.length > 0) {
      while (next < items.length && running.length < atOnce) {
        const begun = work(items[next++] as T);
        begun.catch(() => {}); // its turn may come long after it has failed
        running.push(begun);
      }
      yield await (running.shift() as Promise<R>);
    }
  } finally {
    await Promise.allSettled(running);
  }
}
