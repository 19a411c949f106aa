/** The bundler loads them as text. */
declare module "*.sql" {
  const text: string;
  export default text;
}
