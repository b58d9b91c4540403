/** Addresses of the manual and of the API reference, which the console draws (web/guides). */
export const MANUAL_PATHS = [
  '/docs',
  '/docs/models',
  '/docs/kb',
  '/docs/apps',
  '/docs/tools',
  '/docs/devices',
  '/docs/voice',
  '/docs/operate',
  '/docs/security',
  '/docs/settings',
  '/docs/licences',
  '/docs/api',
  '/docs/errors',
  '/docs/reference',
] as const
