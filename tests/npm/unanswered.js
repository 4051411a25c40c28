/** Connects to a server that says nothing after the upgrade, tells what becomes of that, and ends by itself. */
const [entry, url] = process.argv.slice(2);
const { connect } = await import(entry);
const error = await connect(url, { initializeTimeoutMs: 50 }).catch((reason) => reason);
console.log(error.message);
