import type { Solution } from "../run.ts";
import { afterLooking, execute } from "./statements.ts";

/** Inserts the customers of the table in the prompt with one statement. */
const migrateCustomers: Solution = async (call, prompt) => {
  await call("pg_describe_table", { table: "Customer" });
  const [names = [], , ...rows] = prompt.split("\n").flatMap((line) =>
    line.startsWith("|")
      ? [
          line
            .split("|")
            .slice(1, -1)
            .map((cell) => cell.trim()),
        ]
      : [],
  );
  const customers = rows.map((row) =>
    Object.fromEntries(row.map((cell, index) => [names[index], cell])),
  );
  const columns = names.map((name) => `"${name}"`).join(", ");
  await execute(call, {
    sql: `INSERT INTO "Customer" ("CustomerId", ${columns}, "SupportRepId", "Fax")
      SELECT (SELECT max("CustomerId") FROM "Customer") + number, ${columns}, 3, NULL
      FROM ROWS FROM (json_to_recordset($1::json) AS (${names.map((name) => `"${name}" text`).join(", ")}))
        WITH ORDINALITY AS given (${columns}, number)`,
    params: [JSON.stringify(customers)],
  });
};

const UPDATE_EMPLOYEES = [
  `UPDATE "Employee" SET "Title" = 'CEO' WHERE "EmployeeId" = 1`,
  `UPDATE "Employee" SET "Phone" = '+1 (403) 555-9999' WHERE "EmployeeId" = 2`,
  `UPDATE "Employee" SET "Title" = 'IT Specialist' WHERE "Title" = 'IT Staff'`,
];

const PAYMENT_INDEX = "CREATE INDEX payment_customer_id ON payment (customer_id)";

const chart = (type: string, id: string, name: string, from: string, rankedBy: string) => `
  INSERT INTO top_music_charts
  SELECT '${type}', row_number() OVER (ORDER BY ${rankedBy} DESC, ${name}), ${id}, ${name},
    sum(l."UnitPrice" * l."Quantity")
  FROM "InvoiceLine" l JOIN "Track" t USING ("TrackId") ${from}
  GROUP BY ${id}, ${name} HAVING sum(l."Quantity") > 0
  ORDER BY 2 LIMIT 10`;

export const postgres: Readonly<Record<string, Solution>> = {
  "postgres/easy/chinook/customer_data_migration_basic": migrateCustomers,
  "postgres/standard/chinook/customer_data_migration": migrateCustomers,

  "postgres/easy/chinook/update_employee_info": async (call) => {
    await call("query", { sql: 'SELECT "EmployeeId", "Title", "Phone" FROM "Employee"' });
    await execute(call, ...UPDATE_EMPLOYEES);
  },

  "postgres/standard/chinook/employee_hierarchy_management": async (call) => {
    await call("pg_describe_table", { table: "Employee" });
    const employee = (
      id: number,
      first: string,
      last: string,
      born: string,
      ...rest: readonly string[]
    ) => ({
      sql: `INSERT INTO "Employee" ("EmployeeId", "FirstName", "LastName", "Title", "ReportsTo", "BirthDate", "HireDate",
          "Address", "City", "State", "Country", "PostalCode", "Phone", "Fax", "Email")
        VALUES ($1, $2, $3, 'Sales Support Agent', 2, $4, '2009-01-10', $5, 'Calgary', 'AB', 'Canada', $6, $7, $8, $9)`,
      params: [id, first, last, born, ...rest, `${first}.${last}@chinookcorp.com`.toLowerCase()],
    });
    const phone = (number: number) => `+1 (403) 555-0${number}`;
    await execute(
      call,
      employee(
        9,
        "Sarah",
        "Johnson",
        "1985-03-15",
        "123 Oak Street",
        "T2P 5G3",
        phone(123),
        phone(124),
      ),
      employee(10, "Mike", "Chen", "1982-08-22", "456 Pine Ave", "T2P 5G4", phone(125), phone(126)),
      ...UPDATE_EMPLOYEES,
      'UPDATE "Customer" SET "SupportRepId" = 9 WHERE "CustomerId" IN (1, 2, 3)',
      'UPDATE "Customer" SET "SupportRepId" = 10 WHERE "CustomerId" IN (4, 5, 6)',
      'UPDATE "Employee" SET "ReportsTo" = 1 WHERE "EmployeeId" IN (9, 10)',
      'CREATE TABLE employee_performance (employee_id integer REFERENCES "Employee", customers_assigned integer, performance_score decimal)',
      `INSERT INTO employee_performance
        SELECT "SupportRepId", count(*), CASE "SupportRepId" WHEN 9 THEN 4.5 ELSE 4.2 END
        FROM "Customer" WHERE "SupportRepId" IN (9, 10) GROUP BY 1`,
    );
    const robert = JSON.parse(
      await call("query", { sql: 'SELECT "ReportsTo" FROM "Employee" WHERE "EmployeeId" = 7' }),
    );
    const manager = Number(robert.rows[0][0]);
    await execute(
      call,
      { sql: 'UPDATE "Employee" SET "ReportsTo" = $1 WHERE "ReportsTo" = 7', params: [manager] },
      {
        sql: 'UPDATE "Customer" SET "SupportRepId" = $1 WHERE "SupportRepId" = 7',
        params: [manager],
      },
      'DELETE FROM "Employee" WHERE "EmployeeId" = 7',
      `UPDATE "Employee" SET "Title" = 'Senior IT Specialist' WHERE "EmployeeId" = 8`,
      'ALTER TABLE "Employee" ADD COLUMN salary decimal',
      'UPDATE "Employee" SET salary = CASE "EmployeeId" WHEN 8 THEN 75000.00 ELSE 50000.00 END',
    );
  },

  "postgres/standard/chinook/sales_and_music_charts": afterLooking(
    "Invoice",
    `CREATE TABLE monthly_sales_summary AS
      SELECT to_char("InvoiceDate", 'YYYY-MM')::varchar AS year_month, count(*)::int AS total_invoices,
        sum("Total")::decimal AS total_revenue,
        sum((SELECT sum("Quantity") FROM "InvoiceLine" l WHERE l."InvoiceId" = i."InvoiceId"))::int AS total_tracks_sold,
        avg("Total")::decimal AS average_invoice_value, count(DISTINCT "CustomerId")::int AS unique_customers
      FROM "Invoice" i GROUP BY 1`,
    "CREATE TABLE top_music_charts (chart_type varchar, rank_position integer, item_id integer, item_name varchar, total_revenue decimal)",
    chart("top_tracks", 't."TrackId"', 't."Name"', "", 'sum(l."Quantity")'),
    chart(
      "top_albums",
      'a."AlbumId"',
      'a."Title"',
      'JOIN "Album" a USING ("AlbumId")',
      'sum(l."UnitPrice" * l."Quantity")',
    ),
    chart(
      "top_artists",
      'r."ArtistId"',
      'r."Name"',
      'JOIN "Album" a USING ("AlbumId") JOIN "Artist" r USING ("ArtistId")',
      'sum(l."UnitPrice" * l."Quantity")',
    ),
  ),

  "postgres/easy/dvdrental/create_payment_index": afterLooking("payment", PAYMENT_INDEX),

  "postgres/standard/dvdrental/customer_analytics_optimization": async (call, prompt) => {
    const sql = /```sql\n(.*?);?\n```/s.exec(prompt)?.[1];
    await call("pg_explain", { sql });
    await execute(call, PAYMENT_INDEX, "ANALYZE payment");
    await call("pg_explain", { sql });
  },

  "postgres/standard/dvdrental/customer_analysis_fix": async (call, prompt) => {
    await call("query", {
      sql: "SELECT count(*), count(DISTINCT rental_id) FROM payment",
    });
    const wrong = /```sql\n(.*?);?\n```/s.exec(prompt)?.[1] ?? "";
    // A rental with several payments came out several times, and the days were cut to whole ones.
    const right = wrong
      .replaceAll(
        /JOIN payment p ON r\.rental_id = p\.rental_id\s+WHERE/g,
        "WHERE EXISTS (SELECT 1 FROM payment p WHERE p.rental_id = r.rental_id) AND",
      )
      .replace(
        "SUM(p.amount)",
        "SUM((SELECT SUM(p.amount) FROM payment p WHERE p.rental_id = r.rental_id))",
      )
      .replace(/EXTRACT\(days FROM (\(.*?\))\)/, "EXTRACT(epoch FROM $1) / 86400");
    await execute(call, `CREATE TABLE customer_analysis_fixed AS ${right}`);
  },

  "postgres/standard/dvdrental/film_inventory_management": afterLooking(
    "film",
    `INSERT INTO film (title, description, release_year, language_id, rental_duration, rental_rate, length, replacement_cost, rating)
      VALUES ('Data Science Adventures', 'A thrilling journey through machine learning algorithms', 2024, 1, 5, 3.99, 120, 15.99, 'PG-13'),
        ('Cloud Computing Chronicles', 'Exploring the world of distributed systems', 2024, 1, 7, 4.99, 135, 18.99, 'PG')`,
    `INSERT INTO inventory (film_id, store_id)
      SELECT film_id, store FROM film, unnest(ARRAY[1, 1, 1, 2, 2]) AS store
      WHERE title IN ('Data Science Adventures', 'Cloud Computing Chronicles')`,
    "UPDATE film SET rental_rate = rental_rate * 1.1 WHERE rating = 'PG-13'",
    "CREATE TABLE available_films (film_id integer PRIMARY KEY, title varchar(255) NOT NULL, rental_rate numeric(4, 2) NOT NULL, length smallint)",
    `INSERT INTO available_films SELECT film_id, title, rental_rate, length FROM film f
      WHERE rental_rate BETWEEN 3 AND 5 AND length > 100
        AND EXISTS (SELECT 1 FROM inventory i WHERE i.film_id = f.film_id AND store_id = 1)`,
    `DELETE FROM inventory i USING film f WHERE f.film_id = i.film_id AND replacement_cost > 25 AND rental_rate < 1
      AND NOT EXISTS (SELECT 1 FROM rental r WHERE r.inventory_id = i.inventory_id)`,
    "CREATE TABLE film_inventory_summary (title varchar(255) NOT NULL, rental_rate numeric(4, 2) NOT NULL, total_inventory integer NOT NULL, store1_count integer NOT NULL, store2_count integer NOT NULL)",
    `INSERT INTO film_inventory_summary
      SELECT title, rental_rate, count(*), count(*) FILTER (WHERE store_id = 1), count(*) FILTER (WHERE store_id = 2)
      FROM film JOIN inventory USING (film_id) GROUP BY film_id ORDER BY 3 DESC, 1`,
  ),
};
