// The one error type of the page's calls. Codes made here (not by the host) start with `page_` and
// have their texts in the dictionary; the host's own message is already in the person's language.

import type { ErrorBody, FieldError } from '../protocol';

/** Failures that never reached the host, or whose answer could not be read. */
export type PageErrorCode = 'page_unreachable' | 'page_timeout' | 'page_bad_answer' | 'page_canceled';

export class ApiError extends Error {
  override readonly name = 'ApiError';

  constructor(
    /** The HTTP status, 0 when there was no answer. */
    readonly status: number,
    readonly code: string,
    message: string,
    readonly hint: string | null = null,
    readonly details: unknown = null,
  ) {
    super(message);
  }

  /** The per-field errors of a 422, or an empty list. */
  get fields(): FieldError[] {
    const errors = (this.details as { errors?: unknown } | null)?.errors;
    if (!Array.isArray(errors)) return [];
    return errors.filter(isFieldError);
  }

  static page(code: PageErrorCode, message: string): ApiError {
    return new ApiError(0, code, message);
  }

  /** Reads a failed answer. Anything that is not our error object is kept as text, never dropped. */
  static async fromResponse(response: Response): Promise<ApiError> {
    const text = await response.text();
    const body = parseErrorBody(text);
    if (body) {
      const { code, message, hint, details } = body.error;
      return new ApiError(response.status, code, message, hint ?? null, details ?? null);
    }
    const code = STATUS_CODES[response.status] ?? 'page_bad_answer';
    const said = text.trim().slice(0, 300);
    return new ApiError(response.status, code, said === '' ? `HTTP ${response.status}` : said);
  }
}

/** 401 and 403 come without detail (security T2), so their code is known by status alone. */
const STATUS_CODES: Record<number, string> = {
  401: 'unauthorized',
  403: 'permission_denied',
  404: 'not_found',
  413: 'too_large',
  503: 'unavailable',
};

function parseErrorBody(text: string): ErrorBody | null {
  try {
    const value: unknown = JSON.parse(text);
    const error = (value as ErrorBody | null)?.error;
    return typeof error?.code === 'string' && typeof error.message === 'string' ? (value as ErrorBody) : null;
  } catch {
    // Not JSON: the caller keeps the raw text as the message.
    return null;
  }
}

function isFieldError(value: unknown): value is FieldError {
  const field = value as FieldError | null;
  return typeof field?.path === 'string' && typeof field.message === 'string';
}

/** Makes an `ApiError` of anything thrown, so that every surface can show message and hint. */
export function toApiError(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return new ApiError(0, 'page_error', message);
}
