// What an app is told when the host refuses: one of the codes of host-api §4, the message, and the exact
// code of the host as `data.reason`.

import { ApiError } from '../api/error';
import { type ErrorCode, HostError, isErrorCode } from '../frame/wire';

const BY_STATUS: Record<number, ErrorCode> = {
  400: 'invalid_argument',
  401: 'unavailable',
  403: 'permission_denied',
  404: 'not_found',
  405: 'not_supported',
  408: 'timeout',
  409: 'conflict',
  410: 'unavailable',
  413: 'resource_exhausted',
  415: 'invalid_argument',
  422: 'invalid_argument',
  428: 'needs_input',
  429: 'rate_limited',
  501: 'not_supported',
  502: 'unavailable',
  503: 'unavailable',
  504: 'timeout',
  507: 'resource_exhausted',
};
const BY_PAGE_CODE: Record<string, ErrorCode> = {
  page_unreachable: 'unavailable',
  page_timeout: 'timeout',
  page_canceled: 'canceled',
};

export function toHostError(thrown: unknown): HostError {
  if (thrown instanceof HostError) return thrown;
  if (!(thrown instanceof ApiError)) {
    return new HostError('internal', thrown instanceof Error ? thrown.message : String(thrown));
  }
  const code = isErrorCode(thrown.code) ? thrown.code : (BY_PAGE_CODE[thrown.code] ?? BY_STATUS[thrown.status] ?? 'internal');
  const details = typeof thrown.details === 'object' && thrown.details !== null ? thrown.details : {};
  const data: Record<string, unknown> = { reason: thrown.code, ...details };
  if (thrown.hint !== null) data['hint'] = thrown.hint;
  return new HostError(code, thrown.message, data);
}
