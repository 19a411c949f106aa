import type { Solution } from "../run.ts";
import { afterLooking } from "./statements.ts";

/** The parts of each set's latest inventory, without spares. */
const COUNTS = `SELECT i.set_num, sum(p.quantity) AS parts FROM lego_inventories i
  JOIN (SELECT set_num, max(version) AS version FROM lego_inventories GROUP BY set_num) latest USING (set_num, version)
  JOIN lego_inventory_parts p ON p.inventory_id = i.id AND NOT p.is_spare GROUP BY i.set_num`;

const FIX = [
  "CREATE TEMPORARY TABLE correct_counts (set_num text, actual_parts integer)",
  `INSERT INTO correct_counts SELECT s.set_num, coalesce(c.parts, 0)
    FROM public.lego_sets s LEFT JOIN (${COUNTS}) c USING (set_num)`,
  "UPDATE lego_sets s SET num_parts = actual_parts FROM correct_counts c WHERE c.set_num = s.set_num",
];

const READABLE =
  "lego_themes, lego_colors, lego_parts, lego_part_categories, lego_sets, lego_inventories, lego_inventory_parts";
const SECURED = ["lego_sets", "lego_inventories", "lego_inventory_parts"];
const ROLE = [
  "CREATE ROLE theme_analyst",
  `GRANT SELECT ON ${READABLE} TO theme_analyst`,
  ...SECURED.map((table) => `ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY`),
];

const TRANSFER = `CREATE OR REPLACE FUNCTION transfer_parts(
    source_inventory_id integer, target_inventory_id integer, part_to_transfer_num varchar, color_to_transfer_id integer,
    quantity_to_transfer integer, transfer_reason varchar DEFAULT 'manual_transfer') RETURNS text LANGUAGE plpgsql AS $body$
  DECLARE
    line record;
    remaining integer := quantity_to_transfer;
    taken integer;
  BEGIN
    IF source_inventory_id = target_inventory_id THEN RAISE EXCEPTION 'Source and target are the same inventory'; END IF;
    IF quantity_to_transfer NOT BETWEEN 1 AND 500 THEN
      RAISE EXCEPTION 'A transfer has 1 to 500 parts, not %', quantity_to_transfer;
    END IF;
    PERFORM FROM lego_inventories WHERE id IN (source_inventory_id, target_inventory_id) ORDER BY id FOR UPDATE;
    IF (SELECT count(*) FROM lego_inventories WHERE id IN (source_inventory_id, target_inventory_id)) < 2 THEN
      RAISE EXCEPTION 'An inventory does not exist';
    END IF;
    IF NOT EXISTS (SELECT FROM lego_parts WHERE part_num = part_to_transfer_num) THEN RAISE EXCEPTION 'No such part'; END IF;
    IF NOT EXISTS (SELECT FROM lego_colors WHERE id = color_to_transfer_id) THEN RAISE EXCEPTION 'No such color'; END IF;
    FOR line IN SELECT ctid AS place, quantity, is_spare FROM lego_inventory_parts
      WHERE inventory_id = source_inventory_id AND part_num = part_to_transfer_num AND color_id = color_to_transfer_id
      ORDER BY is_spare FOR UPDATE
    LOOP
      taken := least(line.quantity, remaining);
      EXIT WHEN taken = 0;
      IF taken = line.quantity THEN DELETE FROM lego_inventory_parts WHERE ctid = line.place;
      ELSE UPDATE lego_inventory_parts SET quantity = quantity - taken WHERE ctid = line.place;
      END IF;
      UPDATE lego_inventory_parts SET quantity = quantity + taken
        WHERE inventory_id = target_inventory_id AND part_num = part_to_transfer_num AND color_id = color_to_transfer_id
          AND is_spare = line.is_spare;
      IF NOT FOUND THEN
        INSERT INTO lego_inventory_parts
          VALUES (target_inventory_id, part_to_transfer_num, color_to_transfer_id, taken, line.is_spare);
      END IF;
      remaining := remaining - taken;
    END LOOP;
    IF remaining > 0 THEN RAISE EXCEPTION 'The source lacks % parts', remaining; END IF;
    INSERT INTO inventory_transfer_log (source_inventory_id, target_inventory_id, part_num, color_id, quantity_transferred,
        transfer_reason, transfer_status)
      VALUES (source_inventory_id, target_inventory_id, part_to_transfer_num, color_to_transfer_id, quantity_to_transfer,
        transfer_reason, 'success');
    RETURN format('Successfully transferred %s parts (%s, color_id: %s) from inventory %s to inventory %s. Reason: %s',
      quantity_to_transfer, part_to_transfer_num, color_to_transfer_id, source_inventory_id, target_inventory_id,
      transfer_reason);
  END $body$`;

export const lego: Readonly<Record<string, Solution>> = {
  "postgres/easy/lego/fix_data_inconsistencies": afterLooking("lego", ...FIX),

  "postgres/standard/lego/consistency_enforcement": afterLooking(
    "lego",
    ...FIX,
    `CREATE FUNCTION check_set_parts_consistency() RETURNS trigger LANGUAGE plpgsql AS $body$
      DECLARE
        checked varchar;
        stored integer;
        actual integer;
      BEGIN
        IF TG_TABLE_NAME = 'lego_inventory_parts' THEN
          SELECT set_num INTO checked FROM lego_inventories WHERE id = NEW.inventory_id;
        ELSE
          checked := NEW.set_num;
        END IF;
        IF NOT EXISTS (SELECT FROM lego_inventories WHERE set_num = checked) THEN RETURN NEW; END IF;
        SELECT num_parts INTO stored FROM lego_sets WHERE set_num = checked;
        SELECT coalesce(sum(p.quantity), 0) INTO actual FROM lego_inventory_parts p JOIN lego_inventories i ON i.id = p.inventory_id
          WHERE i.set_num = checked AND NOT p.is_spare
            AND i.version = (SELECT max(version) FROM lego_inventories WHERE set_num = checked);
        IF stored <> actual THEN RAISE EXCEPTION 'Inconsistent part count for set %', checked; END IF;
        RETURN NEW;
      END $body$`,
    ...SECURED.map(
      (
        table,
      ) => `CREATE CONSTRAINT TRIGGER ${table}_consistent AFTER INSERT OR UPDATE ON public.${table}
        DEFERRABLE INITIALLY IMMEDIATE FOR EACH ROW EXECUTE FUNCTION check_set_parts_consistency()`,
    ),
  ),

  "postgres/easy/lego/basic_security_setup": afterLooking("lego", ...ROLE),

  "postgres/standard/lego/database_security_policies": afterLooking(
    "lego",
    ...ROLE,
    `CREATE FUNCTION get_user_theme_id() RETURNS integer LANGUAGE sql STABLE
      AS $$ SELECT CASE current_user WHEN 'theme_analyst' THEN 18 END $$`,
    "CREATE POLICY theme_sets_policy ON lego_sets FOR SELECT USING (theme_id = get_user_theme_id())",
    `CREATE POLICY theme_inventories_policy ON lego_inventories FOR SELECT
      USING (EXISTS (SELECT FROM lego_sets s WHERE s.set_num = lego_inventories.set_num AND s.theme_id = get_user_theme_id()))`,
    `CREATE POLICY theme_inventory_parts_policy ON lego_inventory_parts FOR SELECT
      USING (EXISTS (SELECT FROM lego_inventories i JOIN lego_sets s USING (set_num)
        WHERE i.id = inventory_id AND s.theme_id = get_user_theme_id()))`,
  ),

  "postgres/standard/lego/transactional_inventory_transfer": afterLooking(
    "lego",
    `CREATE TABLE inventory_transfer_log (log_id serial PRIMARY KEY, transfer_timestamp timestamp DEFAULT now(),
      source_inventory_id integer NOT NULL, target_inventory_id integer NOT NULL, part_num varchar NOT NULL,
      color_id integer NOT NULL, quantity_transferred integer NOT NULL, transfer_reason varchar NOT NULL,
      transfer_status varchar NOT NULL CHECK (transfer_status IN ('success', 'failed')), error_message text)`,
    TRANSFER,
  ),
};
