import { MANUAL_PATHS } from '../../core/manual.ts'

/** Pages that search engines may list; all others are for signed-in people or for programs. */
const PUBLIC_PATHS = ['/', ...MANUAL_PATHS, '/status']
const PRIVATE_PATHS = ['/v1/', '/console/', '/auth/', '/app/']

/** `origin` is that of the request, validated (specification, Platform and site). */
export function robots(origin: string): string {
  const rules = PRIVATE_PATHS.map((path) => `Disallow: ${path}`)
  return ['User-agent: *', ...rules, '', `Sitemap: ${origin}/sitemap.xml`, ''].join('\n')
}

/** Sitemaps 0.9. A validated origin contains nothing that XML must escape. */
export function sitemap(origin: string): string {
  const urls = PUBLIC_PATHS.map((path) => `  <url><loc>${origin}${path}</loc></url>`)
  return `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
${urls.join('\n')}
</urlset>
`
}
