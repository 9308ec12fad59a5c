// A copy of JSON data, also of data that a form is bound to, which `structuredClone` refuses.

export function plain<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}
