// Loaded with `node --import` before a plugin's own module: where Node finds no package of that name for the plugin,
// and it is one ChatOS lends, ChatOS's copy beside this file is taken. What a plugin brings itself always wins.

import * as Module from 'node:module';

const NAMES = JSON.parse('__NAMES__');
// Resolving from a file here finds `node_modules` beside it.
const HERE = import.meta.url;

/** Whether this failed because there is no such package at all, and it is one that is lent. */
function isLent(names, specifier, error) {
  const name = String(specifier).split('/', String(specifier).startsWith('@') ? 2 : 1).join('/');
  if (!names.includes(name)) return false;
  // A package that is there and lacks a file is the plugin's own affair.
  if (error?.code === 'ERR_MODULE_NOT_FOUND') return String(error.message).startsWith('Cannot find package');
  return error?.code === 'MODULE_NOT_FOUND';
}

// `import`. Node 20 resolves it on a thread of its own, which is given the same rule as text.
if (typeof Module.registerHooks === 'function') {
  Module.registerHooks({
    resolve(specifier, context, next) {
      try {
        return next(specifier, context);
      } catch (error) {
        if (!isLent(NAMES, specifier, error)) throw error;
        return next(specifier, { ...context, parentURL: HERE });
      }
    },
  });
} else {
  const hooks = `${isLent}
    export async function resolve(specifier, context, next) {
      try {
        return await next(specifier, context);
      } catch (error) {
        if (!isLent(${JSON.stringify(NAMES)}, specifier, error)) throw error;
        return next(specifier, { ...context, parentURL: ${JSON.stringify(HERE)} });
      }
    }`;
  Module.register(`data:text/javascript,${encodeURIComponent(hooks)}`);
}

// `require`.
const here = Module.createRequire(HERE);
const resolve = Module.default._resolveFilename;
Module.default._resolveFilename = function resolveFilename(specifier, ...rest) {
  try {
    return resolve.call(this, specifier, ...rest);
  } catch (error) {
    if (!isLent(NAMES, specifier, error)) throw error;
    return here.resolve(specifier);
  }
};
