// Questions about three public databases. Where the right statement needs a fact that names and types don't show, `naive` is
// what a model writes without it, `fact` is the text that shows it, and `lookup` finds it.

/**
 * @typedef {object} Question
 * @property {string} ask
 * @property {string} sql
 * @property {string | RegExp} answer in the text of the right answer
 * @property {{ fact: string, naive: string, lookup: string }} [unknown]
 */

/** @type {Record<"chinook" | "sakila" | "northwind", Question[]>} */
export const QUESTIONS = {
  chinook: [
    { ask: "How many tracks are there?", sql: "SELECT count(*) FROM track", answer: "3503" },
    {
      ask: "Which artist has the most albums?",
      sql: "SELECT ar.name, count(*) FROM artist ar JOIN album al ON al.artist_id = ar.artist_id GROUP BY ar.artist_id ORDER BY 2 DESC LIMIT 1",
      answer: "Iron Maiden",
    },
    {
      ask: "Revenue by billing country, the first five",
      sql: "SELECT billing_country, sum(total) FROM invoice GROUP BY 1 ORDER BY 2 DESC LIMIT 5",
      answer: "523.06",
    },
    {
      ask: "Which customers live in the United States?",
      sql: "SELECT count(*) FROM customer WHERE country = 'USA'",
      answer: "13",
      unknown: {
        fact: "'USA'",
        naive: "SELECT count(*) FROM customer WHERE country = 'United States'",
        lookup: "SELECT DISTINCT country FROM customer ORDER BY 1",
      },
    },
    {
      ask: "How many tracks are AAC files?",
      sql: "SELECT count(*) FROM track t JOIN media_type m USING (media_type_id) WHERE m.name LIKE '%AAC%'",
      answer: "255",
      unknown: {
        fact: "AAC audio file",
        naive:
          "SELECT count(*) FROM track t JOIN media_type m USING (media_type_id) WHERE m.name = 'AAC'",
        lookup: "SELECT name FROM media_type",
      },
    },
    {
      ask: "How long is the longest track in minutes?",
      sql: "SELECT name, round(milliseconds / 60000.0, 1) FROM track ORDER BY milliseconds DESC LIMIT 1",
      answer: "Occupation / Precipice",
    },
    {
      ask: "Which employee supports the most customers?",
      sql: "SELECT e.first_name, e.last_name, count(*) FROM employee e JOIN customer c ON c.support_rep_id = e.employee_id GROUP BY 1, 2 ORDER BY 3 DESC LIMIT 1",
      answer: "Peacock",
    },
    {
      ask: "Who reports to whom?",
      sql: "SELECT e.last_name, m.last_name AS manager FROM employee e LEFT JOIN employee m ON m.employee_id = e.reports_to ORDER BY 1",
      answer: "Adams",
    },
    {
      ask: "Revenue in each year",
      sql: "SELECT extract(year FROM invoice_date) AS year, sum(total) FROM invoice GROUP BY 1 ORDER BY 1",
      answer: /2021|2009/,
    },
    {
      ask: "Which genres were never sold?",
      sql: "SELECT g.name FROM genre g WHERE NOT EXISTS (SELECT FROM track t JOIN invoice_line l USING (track_id) WHERE t.genre_id = g.genre_id)",
      answer: "Opera",
    },
    {
      ask: "Tracks without a composer",
      sql: "SELECT count(*) FROM track WHERE composer IS NULL",
      answer: /97[78]/,
    },
    {
      ask: "Which customers live in California?",
      sql: "SELECT first_name, last_name FROM customer WHERE state = 'CA'",
      answer: "Frank",
      unknown: {
        fact: "'CA'",
        naive: "SELECT first_name, last_name FROM customer WHERE state = 'California'",
        lookup: "SELECT DISTINCT state FROM customer",
      },
    },
    {
      ask: "How many hip-hop tracks are there?",
      sql: "SELECT count(*) FROM track JOIN genre g USING (genre_id) WHERE g.name = 'Hip Hop/Rap'",
      answer: "35",
      unknown: {
        fact: "Hip Hop/Rap",
        naive: "SELECT count(*) FROM track JOIN genre g USING (genre_id) WHERE g.name = 'Hip-Hop'",
        lookup: "SELECT name FROM genre",
      },
    },
    {
      ask: "The five best-selling tracks",
      sql: "SELECT t.name, sum(l.quantity) FROM invoice_line l JOIN track t USING (track_id) GROUP BY t.track_id ORDER BY 2 DESC, 1 LIMIT 5",
      answer: "A Novidade",
    },
  ],
  sakila: [
    {
      ask: "How many films are rated NC-17?",
      sql: "SELECT count(*) FROM film WHERE rating = 'NC-17'",
      answer: "210",
      unknown: {
        fact: "NC-17",
        naive: "SELECT count(*) FROM film WHERE rating = 'NC17'",
        lookup: "SELECT enumlabel FROM pg_enum ORDER BY enumsortorder",
      },
    },
    {
      ask: "How many films come with trailers?",
      sql: "SELECT count(*) FROM film WHERE 'Trailers' = ANY (special_features)",
      answer: "535",
      unknown: {
        fact: "Trailers",
        naive: "SELECT count(*) FROM film WHERE 'trailer' = ANY (special_features)",
        lookup: "SELECT DISTINCT unnest(special_features) FROM film",
      },
    },
    {
      ask: "How many films are in Sci-Fi?",
      sql: "SELECT count(*) FROM film_category JOIN category c USING (category_id) WHERE c.name = 'Sci-Fi'",
      answer: "61",
      unknown: {
        fact: "Sci-Fi",
        naive:
          "SELECT count(*) FROM film_category JOIN category c USING (category_id) WHERE c.name = 'Science Fiction'",
        lookup: "SELECT name FROM category",
      },
    },
    {
      ask: "Payments in each month",
      sql: "SELECT date_trunc('month', payment_date) AS month, sum(amount) FROM payment GROUP BY 1 ORDER BY 1",
      answer: "28373.89",
    },
    {
      ask: "How many payments are there?",
      sql: "SELECT count(*) FROM payment",
      answer: "16049",
    },
    {
      ask: "Which actor was in the most films?",
      sql: "SELECT a.first_name, a.last_name, count(*) FROM actor a JOIN film_actor USING (actor_id) GROUP BY a.actor_id ORDER BY 3 DESC LIMIT 1",
      answer: "DEGENERES",
    },
    {
      ask: "How many inactive customers are there?",
      sql: "SELECT count(*) FROM customer WHERE active = 0",
      answer: "15",
    },
    {
      ask: "How many films may be rented for at least six days?",
      sql: "SELECT count(*) FROM film WHERE rental_duration >= 6",
      answer: "403",
    },
    {
      ask: "How long do customers keep a film on average, in days?",
      sql: "SELECT round(avg(extract(epoch FROM return_date - rental_date)) / 86400, 1) FROM rental",
      answer: "5.0",
    },
    {
      ask: "Which films are not in stock?",
      sql: "SELECT count(*) FROM film f WHERE NOT EXISTS (SELECT FROM inventory i WHERE i.film_id = f.film_id)",
      answer: "42",
    },
    {
      ask: "Sales of each store",
      sql: "SELECT store, total_sales FROM sales_by_store",
      answer: "Woodridge",
    },
    {
      ask: "Is copy 10 in stock?",
      sql: "SELECT inventory_in_stock(10)",
      answer: /\btrue\b/,
    },
    {
      ask: "Films of each language, and how many",
      sql: "SELECT l.name, count(f.film_id) FROM language l LEFT JOIN film f ON f.language_id = l.language_id GROUP BY 1 ORDER BY 2 DESC",
      answer: "1000",
    },
    {
      ask: "Rentals that were never returned",
      sql: "SELECT count(*) FROM rental WHERE return_date IS NULL",
      answer: "183",
    },
  ],
  northwind: [
    { ask: "How many orders are there?", sql: "SELECT count(*) FROM orders", answer: "830" },
    {
      ask: "The five best customers by revenue",
      sql: "SELECT c.company_name, round(sum(d.unit_price * d.quantity * (1 - d.discount))::numeric, 2) FROM customers c JOIN orders USING (customer_id) JOIN order_details d USING (order_id) GROUP BY 1 ORDER BY 2 DESC LIMIT 5",
      answer: "QUICK-Stop",
    },
    {
      ask: "How many customers are in Great Britain?",
      sql: "SELECT count(*) FROM customers WHERE country = 'UK'",
      answer: "7",
      unknown: {
        fact: "'UK'",
        naive: "SELECT count(*) FROM customers WHERE country = 'United Kingdom'",
        lookup: "SELECT DISTINCT country FROM customers ORDER BY 1",
      },
    },
    {
      ask: "Which products are discontinued?",
      sql: "SELECT count(*) FROM products WHERE discontinued = 1",
      answer: "10",
    },
    {
      ask: "Orders that were shipped late",
      sql: "SELECT count(*) FROM orders WHERE shipped_date > required_date",
      answer: "37",
    },
    {
      ask: "Products to reorder",
      sql: "SELECT product_name FROM products WHERE units_in_stock + units_on_order <= reorder_level AND discontinued = 0",
      answer: "Nord-Ost",
    },
    {
      ask: "Revenue of each category",
      sql: "SELECT c.category_name, round(sum(d.unit_price * d.quantity * (1 - d.discount))::numeric, 2) FROM categories c JOIN products p USING (category_id) JOIN order_details d USING (product_id) GROUP BY 1 ORDER BY 2 DESC",
      answer: "Beverages",
    },
    {
      ask: "Names of the products of each supplier in Japan",
      sql: "SELECT s.company_name, string_agg(p.product_name, ', ') FROM suppliers s JOIN products p USING (supplier_id) WHERE s.country = 'Japan' GROUP BY 1",
      answer: "Tokyo Traders",
    },
    {
      ask: "Which employee handled the most orders?",
      sql: "SELECT e.first_name, e.last_name, count(*) FROM employees e JOIN orders USING (employee_id) GROUP BY 1, 2 ORDER BY 3 DESC LIMIT 1",
      answer: "Peacock",
    },
    {
      ask: "How many employees are in the state of Washington?",
      sql: "SELECT count(*) FROM employees WHERE region = 'WA'",
      answer: "5",
      unknown: {
        fact: "'WA'",
        naive: "SELECT count(*) FROM employees WHERE region = 'Washington'",
        lookup: "SELECT DISTINCT region FROM employees",
      },
    },
    {
      ask: "Customers without an order",
      sql: "SELECT company_name FROM customers c WHERE NOT EXISTS (SELECT FROM orders o WHERE o.customer_id = c.customer_id)",
      answer: "FISSA",
    },
    {
      ask: "All orders of 1997, to look through",
      sql: "SELECT * FROM orders WHERE order_date BETWEEN '1997-01-01' AND '1997-12-31'",
      answer: "10400",
    },
  ],
};
