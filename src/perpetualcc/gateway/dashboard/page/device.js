// A browser elsewhere: its key, which never leaves it, and what it signs with each connection.

const BASE = "perpetualcc";
const KEPT = "device";

/** What shows who this browser is. `code`: of an invitation, for which a key is made; `made`: the one that was. */
export async function prove(challenge, code, made) {
  const pair = code ? (made ?? (await fresh())) : await kept();
  if (!pair) return null;
  const text = new TextEncoder().encode(`perpetualcc device\n${location.origin}\n${challenge}`);
  const [signature, key] = await Promise.all([
    crypto.subtle.sign("Ed25519", pair.privateKey, text),
    crypto.subtle.exportKey("raw", pair.publicKey),
  ]);
  return { pair, greeting: { key: encoded(key), signature: encoded(signature), ...(code ? { code } : {}) } };
}

async function fresh() {
  try {
    return await crypto.subtle.generateKey("Ed25519", false, ["sign", "verify"]);
  } catch {
    throw new Error(crypto.subtle ? "This browser is too old to be paired: it knows no Ed25519." : "This page must be reached by https to be paired.");
  }
}

export async function keep(pair) {
  await inStore("readwrite", (store) => store.put(pair, KEPT));
  // Some browsers forget pages that were not visited for a week, but for those that ask.
  await navigator.storage?.persist?.();
}

const kept = () => inStore("readonly", (store) => store.get(KEPT));

async function inStore(mode, act) {
  const base = await settled(indexedDB.open(BASE, 1), (request) => {
    request.onupgradeneeded = () => request.result.createObjectStore(BASE);
  });
  try {
    return await settled(act(base.transaction(BASE, mode).objectStore(BASE)));
  } finally {
    base.close();
  }
}

function settled(request, prepare = () => {}) {
  prepare(request);
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

function encoded(bytes) {
  const text = String.fromCharCode(...new Uint8Array(bytes));
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
