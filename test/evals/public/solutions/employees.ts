import type { Solution } from "../run.ts";
import { afterLooking, execute } from "./statements.ts";

const NOW = "to_date = '9999-01-01'";
const GENDERS = `CREATE TABLE employees.gender_statistics AS
  SELECT gender::text::varchar AS gender, count(*)::int AS total_employees, count(s.id)::int AS current_employees,
    100.0 * count(s.id) / sum(count(s.id)) OVER () AS percentage_of_workforce
  FROM employees.employee e LEFT JOIN (SELECT DISTINCT employee_id AS id FROM employees.salary WHERE ${NOW}) s USING (id)
  GROUP BY gender`;
const HIRING_YEARS = `CREATE TABLE employees.hiring_year_summary AS
  SELECT extract(year FROM hire_date)::int AS hire_year, count(*)::int AS employees_hired, count(s.id)::int AS still_employed,
    100.0 * count(s.id) / count(*) AS retention_rate
  FROM employees.employee e LEFT JOIN (SELECT DISTINCT employee_id AS id FROM employees.salary WHERE ${NOW}) s USING (id)
  GROUP BY 1 ORDER BY 1`;
const DEPARTMENTS = `CREATE MATERIALIZED VIEW employees.exec_department_summary AS
  SELECT dept_name AS department_name, count(m.employee_id)::int AS total_employees, avg(amount)::decimal AS avg_salary,
    coalesce(sum(amount), 0)::bigint AS total_payroll,
    (SELECT concat(first_name, ' ', last_name) FROM employees.department_manager h JOIN employees.employee e ON e.id = h.employee_id
      WHERE h.department_id = d.id AND h.${NOW} ORDER BY h.from_date DESC LIMIT 1)::varchar AS manager_name
  FROM employees.department d
    LEFT JOIN employees.department_employee m ON m.department_id = d.id AND m.${NOW}
    LEFT JOIN employees.salary s ON s.employee_id = m.employee_id AND s.${NOW}
  GROUP BY d.id ORDER BY 1`;
const PROJECTS = [
  `CREATE TABLE employees.employee_projects (project_id serial PRIMARY KEY, project_name varchar(100) NOT NULL,
    start_date date NOT NULL, end_date date, budget decimal(10, 2), status varchar(20) DEFAULT 'active')`,
  `INSERT INTO employees.employee_projects (project_name, start_date, end_date, budget, status) VALUES
    ('Database Modernization', '2024-01-15', '2024-06-30', 250000, 'active'),
    ('Employee Portal Upgrade', '2024-02-01', '2024-05-15', 180000, 'active'),
    ('HR Analytics Dashboard', '2023-11-01', '2024-01-31', 120000, 'active')`,
];

export const employees: Readonly<Record<string, Solution>> = {
  "postgres/easy/employees/department_summary_view": afterLooking(
    "employee",
    DEPARTMENTS,
    "REFRESH MATERIALIZED VIEW employees.exec_department_summary",
  ),
  "postgres/easy/employees/employee_gender_statistics": afterLooking("employee", GENDERS),
  "postgres/easy/employees/employee_projects_basic": afterLooking("employee", ...PROJECTS),
  "postgres/easy/employees/hiring_year_summary": afterLooking("employee", HIRING_YEARS),

  "postgres/standard/employees/employee_demographics_report": afterLooking(
    "employee",
    GENDERS,
    HIRING_YEARS,
    `CREATE TABLE employees.age_group_analysis AS
      SELECT (CASE WHEN age >= 60 THEN '60+' ELSE age / 10 * 10 || '-' || age / 10 * 10 + 9 END)::varchar AS age_group,
        count(*)::int AS employee_count, avg(amount) AS avg_salary, avg(current_date - hire_date) AS avg_tenure_days
      FROM (SELECT *, extract(year FROM age(current_date, birth_date))::int AS age FROM employees.employee) e
        JOIN employees.salary s ON s.employee_id = e.id AND s.${NOW}
      WHERE age >= 20 GROUP BY 1`,
    `CREATE TABLE employees.birth_month_distribution AS
      SELECT month AS birth_month, to_char(make_date(2000, month, 1), 'FMMonth')::varchar AS month_name,
        count(e.id)::int AS employee_count, count(s.id)::int AS current_employee_count
      FROM generate_series(1, 12) month LEFT JOIN employees.employee e ON extract(month FROM birth_date) = month
        LEFT JOIN (SELECT DISTINCT employee_id AS id FROM employees.salary WHERE ${NOW}) s ON s.id = e.id
      GROUP BY month`,
  ),

  "postgres/standard/employees/employee_performance_analysis": afterLooking(
    "employee",
    `CREATE TABLE employees.employee_performance_analysis AS
      SELECT id AS employee_id, (CASE WHEN growth > 40 AND titles > 1 THEN 'high_achiever'
          WHEN growth < 15 AND days > 3650 THEN 'needs_attention' ELSE 'steady_performer' END)::varchar AS performance_category,
        growth AS salary_growth_rate, days AS days_of_service, titles AS promotion_count
      FROM (SELECT e.id, current_date - hire_date AS days, 100.0 * (s.amount - first.amount) / first.amount AS growth,
          (SELECT count(DISTINCT title)::int FROM employees.title t WHERE t.employee_id = e.id) AS titles
        FROM employees.employee e JOIN employees.salary s ON s.employee_id = e.id AND s.${NOW}
          CROSS JOIN LATERAL (SELECT amount FROM employees.salary f WHERE f.employee_id = e.id ORDER BY from_date LIMIT 1) first
      ) facts`,
    `CREATE TABLE employees.department_salary_analysis AS
      SELECT dept_name AS department_name, avg(amount) AS avg_current_salary, count(*)::int AS employee_count,
        (max(amount) - min(amount))::int AS salary_range_spread
      FROM employees.department d JOIN employees.department_employee m ON m.department_id = d.id AND m.${NOW}
        JOIN employees.salary s ON s.employee_id = m.employee_id AND s.${NOW} GROUP BY 1`,
  ),

  "postgres/standard/employees/employee_project_tracking": async (call, prompt) => {
    await call("pg_describe_tables", { query: "employee" });
    const assignments = [
      ...prompt.matchAll(
        /All employees from ([\w ]+) department → Project (\d).*role='([^']+)', allocation=(\d+)%/g,
      ),
    ].map(([, department, project, role, share]) => ({ department, project, role, share }));
    const milestones = [...prompt.matchAll(/^ {3}\* Project (\d): ('.* due .*)$/gm)].flatMap(
      ([, project, list = ""]) =>
        [...list.matchAll(/'([^']+)' due '([^']+)'/g)].map(([, name, due]) => ({
          project,
          name,
          due,
        })),
    );
    await execute(
      call,
      ...PROJECTS,
      `CREATE TABLE employees.project_assignments (assignment_id serial PRIMARY KEY,
        employee_id bigint NOT NULL REFERENCES employees.employee, project_id integer NOT NULL REFERENCES employees.employee_projects,
        role varchar(50) NOT NULL, allocation_percentage integer CHECK (allocation_percentage BETWEEN 1 AND 100),
        assigned_date date NOT NULL)`,
      `CREATE TABLE employees.project_milestones (milestone_id serial PRIMARY KEY,
        project_id integer NOT NULL REFERENCES employees.employee_projects, milestone_name varchar(100) NOT NULL,
        due_date date NOT NULL, completed boolean DEFAULT false)`,
      "CREATE INDEX idx_projects_status ON employees.employee_projects (status)",
      "CREATE INDEX idx_assignments_emp_proj ON employees.project_assignments (employee_id, project_id)",
      "CREATE INDEX idx_milestones_due_date ON employees.project_milestones (due_date)",
      {
        sql: `INSERT INTO employees.project_assignments (employee_id, project_id, role, allocation_percentage, assigned_date)
          SELECT employee_id, project, role, share, '2024-01-01'
          FROM json_to_recordset($1::json) AS given (department text, project int, role text, share int)
            JOIN employees.department d ON d.dept_name = department
            JOIN employees.department_employee m ON m.department_id = d.id AND m.${NOW}`,
        params: [JSON.stringify(assignments)],
      },
      {
        sql: `INSERT INTO employees.project_milestones (project_id, milestone_name, due_date)
          SELECT project, name, due FROM json_to_recordset($1::json) AS given (project int, name text, due date)`,
        params: [JSON.stringify(milestones)],
      },
      "UPDATE employees.employee_projects SET status = 'completed' WHERE project_name = 'HR Analytics Dashboard'",
      "UPDATE employees.employee_projects SET budget = budget * 1.15 WHERE status = 'active'",
      "UPDATE employees.project_milestones SET completed = true WHERE milestone_name = 'Data Collection'",
      "ALTER TABLE employees.employee_projects ADD COLUMN priority varchar(10) CHECK (priority IN ('low', 'medium', 'high'))",
      `UPDATE employees.employee_projects
        SET priority = CASE project_name WHEN 'Database Modernization' THEN 'high' ELSE 'medium' END`,
    );
  },

  "postgres/standard/employees/executive_dashboard_automation": async (call) => {
    await call("pg_describe_tables", { query: "employee" });
    const views = ["exec_department_summary", "exec_hiring_trends", "exec_salary_distribution"];
    await execute(
      call,
      DEPARTMENTS,
      `CREATE MATERIALIZED VIEW employees.exec_hiring_trends AS
        SELECT hire_year, count(*)::int AS employees_hired, avg(first.amount)::decimal AS avg_starting_salary,
          100.0 * count(*) FILTER (WHERE employed) / count(*) AS retention_rate,
          (mode() WITHIN GROUP (ORDER BY dept_name))::varchar AS top_hiring_department
        FROM (SELECT id, extract(year FROM hire_date)::int AS hire_year,
            EXISTS (SELECT FROM employees.salary s WHERE s.employee_id = id AND s.${NOW}) AS employed FROM employees.employee) e
          LEFT JOIN LATERAL (SELECT amount FROM employees.salary s WHERE s.employee_id = e.id ORDER BY from_date LIMIT 1) first ON true
          LEFT JOIN LATERAL (SELECT dept_name FROM employees.department_employee m JOIN employees.department d ON d.id = m.department_id
            WHERE m.employee_id = e.id ORDER BY m.from_date, m.department_id LIMIT 1) department ON true
        GROUP BY 1`,
      `CREATE MATERIALIZED VIEW employees.exec_salary_distribution AS
        SELECT salary_band::varchar, count(*)::int AS employee_count,
          100.0 * count(*) / sum(count(*)) OVER () AS percentage_of_workforce,
          (mode() WITHIN GROUP (ORDER BY title))::varchar AS most_common_title
        FROM (SELECT CASE WHEN amount < 50000 THEN '30K-50K' WHEN amount < 70000 THEN '50K-70K' WHEN amount < 90000 THEN '70K-90K'
              WHEN amount < 110000 THEN '90K-110K' ELSE '110K+' END AS salary_band,
            (SELECT title FROM employees.title t WHERE t.employee_id = s.employee_id AND t.${NOW}
              ORDER BY from_date DESC, title LIMIT 1) AS title
          FROM employees.salary s WHERE ${NOW}) banded
        GROUP BY 1`,
      `CREATE TABLE employees.monthly_reports (report_id serial PRIMARY KEY, report_date date, department_count integer,
        total_employees integer, avg_salary decimal, generated_at timestamp DEFAULT now())`,
      `CREATE TABLE employees.salary_alerts (alert_id serial PRIMARY KEY, employee_id bigint, salary_amount bigint,
        alert_date timestamp DEFAULT now(), status varchar DEFAULT 'new')`,
      `CREATE FUNCTION employees.generate_monthly_report(report_date date) RETURNS integer LANGUAGE sql AS $body$
        INSERT INTO employees.monthly_reports (report_date, department_count, total_employees, avg_salary)
        SELECT $1, count(DISTINCT m.department_id), count(DISTINCT s.employee_id), avg(amount)
        FROM employees.salary s JOIN employees.department_employee m ON m.employee_id = s.employee_id AND m.${NOW}
        WHERE s.${NOW} RETURNING report_id $body$`,
      `CREATE FUNCTION employees.alert_high_salary() RETURNS trigger LANGUAGE plpgsql AS $body$
        BEGIN
          INSERT INTO employees.salary_alerts (employee_id, salary_amount) VALUES (NEW.employee_id, NEW.amount);
          RETURN NEW;
        END $body$`,
      `CREATE TRIGGER high_salary_alert AFTER INSERT ON employees.salary FOR EACH ROW
        WHEN (NEW.amount > 120000) EXECUTE FUNCTION employees.alert_high_salary()`,
      "CREATE INDEX idx_salary_alerts_status ON employees.salary_alerts (status)",
      "CREATE INDEX idx_monthly_reports_date ON employees.monthly_reports (report_date, department_count)",
      `UPDATE employees.salary SET to_date = '2024-01-31' WHERE employee_id = 10001 AND ${NOW}`,
      "INSERT INTO employees.salary VALUES (10001, 125000, '2024-02-01', '9999-01-01')",
      ...views.map((view) => `REFRESH MATERIALIZED VIEW employees.${view}`),
      "SELECT employees.generate_monthly_report('2024-01-01')",
    );
    await call("query", { sql: "SELECT * FROM employees.monthly_reports" });
  },
};
