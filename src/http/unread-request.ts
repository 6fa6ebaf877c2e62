import { limits } from '../core/limits.js';
import { type HttpRefusal, refusal } from './http-refusal.js';

const seconds = limits.httpRequestMillis / 1000;

/** By the codes of fastify (`FST_`), of Node.js, of its parser (`HPE_`) and our own: their words say neither what nor what to do. */
const known: Readonly<Record<string, HttpRefusal>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: refusal(
    413,
    'BODY_TOO_LARGE',
    `the body has more than ${limits.httpBodyBytes} bytes, which are all that is read: send less`,
  ),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: refusal(
    415,
    'UNSUPPORTED_MEDIA_TYPE',
    'the body is not said to be JSON: send JSON, and content-type: application/json',
  ),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: malformed('the body is not as long as its Content-Length says: send all of it'),
  FST_ERR_BAD_URL: malformed('the URL has a % without a byte in hexadecimal digits: write %25 for a % itself'),
  ERR_HTTP_REQUEST_TIMEOUT: refusal(
    408,
    'REQUEST_TIMEOUT',
    `the request did not arrive within ${seconds} s: send all of it at once`,
  ),
  HPE_HEADER_OVERFLOW: refusal(
    431,
    'HEADERS_TOO_LARGE',
    `the headers have more than ${limits.httpHeaderBytes} bytes: send fewer or shorter ones`,
  ),
  NO_HOST: malformed('a request of HTTP/1.1 needs a Host header: send the host and port that are asked'),
  EXPECTATION: refusal(417, 'MALFORMED_REQUEST', 'only Expect: 100-continue can be met: send no other'),
  HPE_INVALID_METHOD: malformed('HTTP has no such method: send GET or POST, and plain HTTP to a port without TLS'),
};

const unknown = malformed('this is no request of HTTP/1.1: see that URL, headers and body are as HTTP has them');

/** Why a request was not read to its end, whoever gave up on it. */
export function unreadRequest({ code = '' }: { readonly code?: string | undefined }): HttpRefusal {
  return known[code] ?? unknown;
}

function malformed(message: string): HttpRefusal {
  return refusal(400, 'MALFORMED_REQUEST', message);
}
