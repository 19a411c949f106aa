// The workloads that crystaldba/postgres-mcp tests its index advice with (tests/integration/dta, commit 07eb329, MIT), in
// other words: their tables, distributions and queries, and the indexes that those tests look for.
/** @param {string} column @param {string[]} values */
const cycle = (column, ...values) =>
  `(ARRAY['${values.join("','")}'])[1 + ${column} % ${values.length}]`;

export const SOURCE = "crystaldba/postgres-mcp 07eb329";

/** @typedef {{ setup: string, queries: string[], expected: string[], unwanted?: string[] }} Workload */

/** @type {Record<string, Workload>} */
export const WORKLOADS = {
  "joins of a movie database": {
    setup: `
      CREATE TABLE movies (id serial PRIMARY KEY, title varchar(200), year int, rating float, votes int);
      CREATE TABLE actors (id serial PRIMARY KEY, name varchar(100), gender char(1), birth_year int);
      CREATE TABLE movie_cast (movie_id int REFERENCES movies, actor_id int REFERENCES actors, role varchar(100), PRIMARY KEY (movie_id, actor_id, role));
      CREATE TABLE companies (id serial PRIMARY KEY, name varchar(100), country varchar(50));
      CREATE TABLE movie_companies (movie_id int REFERENCES movies, company_id int REFERENCES companies, production_role varchar(50), PRIMARY KEY (movie_id, company_id, production_role));
      CREATE TABLE genres (id serial PRIMARY KEY, name varchar(50));
      CREATE TABLE movie_genres (movie_id int REFERENCES movies, genre_id int REFERENCES genres, PRIMARY KEY (movie_id, genre_id));
      INSERT INTO genres SELECT n, name FROM unnest('{Action,Comedy,Drama,Sci-Fi,Thriller}'::text[]) WITH ORDINALITY g (name, n);
      INSERT INTO companies SELECT n, name, 'USA' FROM unnest('{Universal,Warner,Paramount,Sony,Disney}'::text[]) WITH ORDINALITY c (name, n);
      INSERT INTO movies SELECT i, 'Movie ' || i, 2000 + i % 22, 5.0 + i % 10 * 0.5, 1000 + i % 100 * 1000 FROM generate_series(1, 10000) i;
      INSERT INTO actors SELECT i, 'Actor ' || i, ${cycle("i", "M", "F")}, 1950 + i % 50 FROM generate_series(1, 5000) i;
      INSERT INTO movie_cast SELECT m, (49 - m % 50) + 50 * k + 1, 'Role ' || m % 10 FROM generate_series(1, 10000) m, generate_series(0, 4) k;
      INSERT INTO movie_companies SELECT m, 1 + m % 5, ${cycle("m", "Production", "Distribution", "Marketing")} FROM generate_series(1, 10000) m;
      INSERT INTO movie_genres SELECT m, 1 + m % 5 FROM generate_series(1, 10000) m UNION SELECT m, 1 + (m + 2) % 5 FROM generate_series(2, 10000, 2) m
        UNION SELECT m, 1 + (m + 4) % 5 FROM generate_series(3, 10000, 3) m`,
    queries: [
      "SELECT m.title, a.name FROM movies m JOIN movie_cast mc ON m.id = mc.movie_id JOIN actors a ON mc.actor_id = a.id WHERE m.year > 2010 AND a.gender = 'F'",
      "SELECT m.title, g.name, count(a.id) AS actors FROM movies m JOIN movie_genres mg ON m.id = mg.movie_id JOIN genres g ON mg.genre_id = g.id JOIN movie_cast mc ON m.id = mc.movie_id JOIN actors a ON mc.actor_id = a.id WHERE g.name = 'Action' AND m.rating > 7.5 GROUP BY m.title, g.name ORDER BY actors DESC LIMIT 20",
      "SELECT c.name, count(m.id), avg(m.rating) AS rating FROM companies c JOIN movie_companies mc ON c.id = mc.company_id JOIN movies m ON mc.movie_id = m.id WHERE mc.production_role = 'Production' AND m.year BETWEEN 2005 AND 2015 GROUP BY c.name HAVING count(m.id) > 5 ORDER BY rating DESC",
      "SELECT a.name, count(DISTINCT g.name) AS genres FROM actors a JOIN movie_cast mc ON a.id = mc.actor_id JOIN movies m ON mc.movie_id = m.id JOIN movie_genres mg ON m.id = mg.movie_id JOIN genres g ON mg.genre_id = g.id WHERE a.gender = 'M' AND m.votes > 10000 GROUP BY a.name ORDER BY genres DESC, a.name LIMIT 10",
      "SELECT m.year, g.name, count(*) AS movies FROM movies m JOIN movie_genres mg ON m.id = mg.movie_id JOIN genres g ON mg.genre_id = g.id WHERE m.rating > 6.0 GROUP BY m.year, g.name ORDER BY m.year DESC, movies DESC",
    ],
    expected: ["movie_cast (actor_id)", "movie_genres (movie_id)", "actors (gender)"],
  },
  "several columns": {
    setup: `
      CREATE TABLE customers (id serial PRIMARY KEY, region varchar(50), city varchar(100), age int, income_level varchar(20), signup_date date);
      CREATE TABLE products (id serial PRIMARY KEY, category varchar(50), subcategory varchar(50), price decimal(10, 2), availability boolean, launch_date date);
      CREATE TABLE sales (id serial PRIMARY KEY, customer_id int REFERENCES customers, product_id int REFERENCES products, sale_date date, quantity int, total_amount decimal(12, 2), payment_method varchar(20), status varchar(20));
      INSERT INTO customers (region, city, age, signup_date) SELECT ${cycle("i", "North", "South", "East", "West")},
        CASE i % 4 WHEN 0 THEN ${cycle("i", "NYC", "Boston", "Chicago")} WHEN 1 THEN ${cycle("i", "Miami", "Dallas", "Houston")}
          WHEN 2 THEN ${cycle("i", "Philadelphia", "DC", "Atlanta")} ELSE ${cycle("i", "LA", "Seattle", "Portland")} END, 25 + i % 50, current_date - i % 1000 FROM generate_series(1, 5000) i;
      INSERT INTO products (category, subcategory, price, availability, launch_date) SELECT ${cycle("i", "Electronics", "Clothing", "Home", "Sports", "Books")},
        CASE i % 5 WHEN 0 THEN ${cycle("i", "Phones", "Computers", "TVs")} ELSE ${cycle("i", "Shirts", "Pants", "Shoes")} END,
        CASE i % 5 WHEN 0 THEN 500 WHEN 1 THEN 50 + i % 10 * 5 WHEN 2 THEN 100 + i % 7 * 10 ELSE 15 + i % 20 END, i % 10 <> 0, current_date - i % 500 FROM generate_series(1, 1000) i;
      INSERT INTO sales (customer_id, product_id, sale_date, quantity, total_amount, payment_method, status) SELECT 1 + i % 5000, 1 + i % 1000, current_date - i % 365, 1 + i % 5, 50 + i % 1000,
        CASE WHEN i % 50 < 25 THEN 'Credit' WHEN i % 50 < 40 THEN 'Debit' WHEN i % 50 < 48 THEN 'PayPal' ELSE 'Cash' END,
        CASE WHEN i % 50 < 25 THEN 'Completed' WHEN i % 50 < 40 THEN 'Pending' WHEN i % 50 < 48 THEN 'Processing' ELSE 'Canceled' END FROM generate_series(1, 20000) i`,
    queries: [
      "SELECT * FROM customers WHERE region = 'North' AND city = 'NYC' ORDER BY age DESC",
      "SELECT * FROM products WHERE category = 'Electronics' AND subcategory = 'Phones' AND price BETWEEN 500 AND 600 ORDER BY launch_date",
      "SELECT s.*, c.region FROM sales s JOIN customers c ON s.customer_id = c.id WHERE s.sale_date > current_date - interval '30 days' AND s.status = 'Completed' ORDER BY s.sale_date DESC LIMIT 100",
      "SELECT s.sale_date, s.quantity, s.total_amount FROM sales s WHERE s.customer_id BETWEEN 100 AND 500 AND s.product_id = 42 ORDER BY s.sale_date",
      "SELECT count(*), sum(total_amount) FROM sales WHERE payment_method = 'Credit' AND status = 'Completed' GROUP BY sale_date HAVING count(*) > 5",
    ],
    expected: [
      "customers (region, city)",
      "products (category, subcategory, price)",
      "sales (sale_date, status)",
      "sales (customer_id, product_id)",
      "sales (payment_method, status)",
    ],
  },
  "diminishing returns": {
    setup: `
      CREATE TABLE large_table (id serial PRIMARY KEY, high1 int, high2 varchar(100), high3 int, medium1 int, medium2 varchar(50), low1 int, low2 varchar(10));
      INSERT INTO large_table (high1, high2, high3, medium1, medium2, low1, low2)
        SELECT i, 'value-' || i, i * 37 % 10000, i % 100, 'category-' || i % 50, i % 5, ${cycle("i", "A", "B", "C")} FROM generate_series(1, 50000) i`,
    queries: [
      "high1 = 12345",
      "high2 = 'value-9876'",
      "high3 BETWEEN 5000 AND 5100",
      "medium1 = 42",
      "medium2 = 'category-25'",
    ].map((condition) => `SELECT * FROM large_table WHERE ${condition} ORDER BY id LIMIT 100`),
    expected: ["large_table (high1)", "large_table (high2)", "large_table (high3)"],
  },
  "equality on each column": {
    setup: `
      CREATE TABLE pareto (id serial PRIMARY KEY, col1 int, col2 varchar(100), col3 int, col4 varchar(100));
      INSERT INTO pareto (col1, col2, col3, col4) SELECT i % 1000, 'value-' || i % 500, i * 2 % 2000, 'text-' || i % 100 FROM generate_series(1, 10000) i`,
    queries: ["col1 = 42", "col2 = 'value-100'", "col3 = 500", "col4 = 'text-50'"].map(
      (condition) => `SELECT * FROM pareto WHERE ${condition}`,
    ),
    expected: ["pareto (col1)", "pareto (col2)", "pareto (col3)", "pareto (col4)"],
  },
  "small and huge columns": {
    setup: `
      CREATE TABLE wide (id serial PRIMARY KEY, small int, medium varchar(100), large varchar(10000), huge text, created_at timestamp, status varchar(20));
      INSERT INTO wide (small, medium, large, huge, created_at, status) SELECT i % 1000, 'medium-' || i % 500, 'large-' || repeat('x', 500 + i % 500),
        CASE WHEN i % 100 = 0 THEN repeat('y', 5000 + i % 1000) END, current_date - i % 365, ${cycle("i", "active", "pending", "completed", "archived")} FROM generate_series(1, 20000) i`,
    queries: [
      "small = 42",
      "medium = 'medium-123'",
      "large LIKE 'large-xx%'",
      "huge IS NOT NULL",
    ].map(
      (condition) => `SELECT * FROM wide WHERE ${condition} ORDER BY created_at DESC LIMIT 100`,
    ),
    expected: ["wide (small)", "wide (medium)"],
    unwanted: ["huge", "large"],
  },
  "equality, ranges and dates": {
    setup: `
      CREATE TABLE dated (id serial PRIMARY KEY, col1 int, col2 varchar(100), col3 text, date_col date, value numeric(10, 2));
      INSERT INTO dated (col1, col2, col3, date_col, value) SELECT i % 10000, 'val-' || i % 1000, CASE WHEN i % 100 = 0 THEN repeat('x', 1000) END,
        current_date - i % 730, i % 1000 FROM generate_series(1, 50000) i`,
    queries: [
      "SELECT * FROM dated WHERE col1 = 123 ORDER BY date_col",
      "SELECT * FROM dated WHERE col2 = 'val-456' ORDER BY date_col",
      "SELECT * FROM dated WHERE col3 IS NOT NULL ORDER BY date_col",
      "SELECT * FROM dated WHERE date_col >= current_date - interval '30 days'",
      "SELECT * FROM dated WHERE col1 BETWEEN 100 AND 200 ORDER BY date_col",
    ],
    expected: ["dated (col1)", "dated (col2)", "dated (date_col)"],
  },
};
