BEGIN TRANSACTION;
CREATE TABLE assignments (
	number INTEGER NOT NULL, 
	hit INTEGER NOT NULL, 
	worker INTEGER NOT NULL, 
	status TEXT NOT NULL CHECK (status IN ('open', 'submitted', 'skipped')), 
	item_order TEXT, 
	started_at TEXT NOT NULL, 
	last_event_at TEXT NOT NULL, 
	closed_at TEXT, 
	active_seconds FLOAT DEFAULT 0 NOT NULL, 
	PRIMARY KEY (number), 
	UNIQUE (hit, worker), 
	FOREIGN KEY(hit) REFERENCES hits (number), 
	FOREIGN KEY(worker) REFERENCES workers (number)
);
INSERT INTO "assignments" VALUES(1,0,0,'submitted','[2,9,1,0]','2026-11-30T05:24:45.312424+00:00','2026-11-30T05:24:45.332737+00:00','2026-11-30T05:24:45.332737+00:00',20.0);
INSERT INTO "assignments" VALUES(2,1,0,'submitted','[1,3,2,4]','2026-11-30T05:24:45.338732+00:00','2026-11-30T05:24:45.350742+00:00','2026-11-30T05:24:45.350742+00:00',20.0);
INSERT INTO "assignments" VALUES(3,2,1,'submitted','[7,4,9,5]','2026-11-30T05:24:45.355646+00:00','2026-11-30T05:24:45.367645+00:00','2026-11-30T05:24:45.367645+00:00',20.0);
CREATE TABLE campaign (
	id INTEGER NOT NULL CHECK (id = 1), 
	instructions TEXT NOT NULL, 
	image_root_relative TEXT, 
	image_root_absolute TEXT, 
	created_at TEXT NOT NULL, 
	created_with TEXT NOT NULL, 
	revision INTEGER DEFAULT 1 NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "campaign" VALUES(1,'Sort by colour','images','/photos/images','2026-11-30T05:24:45.280640+00:00','0.1.0',9);
CREATE TABLE events (
	number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	assignment INTEGER NOT NULL, 
	at TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	placements TEXT, 
	active_seconds FLOAT NOT NULL, 
	FOREIGN KEY(assignment) REFERENCES assignments (number)
);
INSERT INTO "events" VALUES(1,1,'2026-11-30T05:24:45.320427+00:00','place','[[0,1]]',0.0);
INSERT INTO "events" VALUES(2,1,'2026-11-30T05:24:45.324731+00:00','place','[[1,2]]',1.0);
INSERT INTO "events" VALUES(3,1,'2026-11-30T05:24:45.327725+00:00','place','[[2,1]]',2.0);
INSERT INTO "events" VALUES(4,1,'2026-11-30T05:24:45.330190+00:00','place','[[3,2]]',3.0);
INSERT INTO "events" VALUES(5,1,'2026-11-30T05:24:45.332737+00:00','submit',NULL,20.0);
INSERT INTO "events" VALUES(6,2,'2026-11-30T05:24:45.341971+00:00','place','[[0,1]]',0.0);
INSERT INTO "events" VALUES(7,2,'2026-11-30T05:24:45.344231+00:00','place','[[1,2]]',1.0);
INSERT INTO "events" VALUES(8,2,'2026-11-30T05:24:45.346431+00:00','place','[[2,1]]',2.0);
INSERT INTO "events" VALUES(9,2,'2026-11-30T05:24:45.348740+00:00','place','[[3,2]]',3.0);
INSERT INTO "events" VALUES(10,2,'2026-11-30T05:24:45.350742+00:00','submit',NULL,20.0);
INSERT INTO "events" VALUES(11,3,'2026-11-30T05:24:45.358596+00:00','place','[[0,1]]',0.0);
INSERT INTO "events" VALUES(12,3,'2026-11-30T05:24:45.360761+00:00','place','[[1,2]]',1.0);
INSERT INTO "events" VALUES(13,3,'2026-11-30T05:24:45.362884+00:00','place','[[2,1]]',2.0);
INSERT INTO "events" VALUES(14,3,'2026-11-30T05:24:45.365213+00:00','place','[[3,2]]',3.0);
INSERT INTO "events" VALUES(15,3,'2026-11-30T05:24:45.367645+00:00','submit',NULL,20.0);
CREATE TABLE flags (
	number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	item INTEGER NOT NULL, 
	worker INTEGER NOT NULL, 
	assignment INTEGER NOT NULL, 
	reason TEXT NOT NULL, 
	at TEXT NOT NULL, 
	UNIQUE (assignment, item, reason), 
	FOREIGN KEY(item) REFERENCES items (number), 
	FOREIGN KEY(worker) REFERENCES workers (number), 
	FOREIGN KEY(assignment) REFERENCES assignments (number)
);
CREATE TABLE hit_items (
	hit INTEGER NOT NULL, 
	item INTEGER NOT NULL, 
	position INTEGER NOT NULL, 
	PRIMARY KEY (hit, item), 
	FOREIGN KEY(hit) REFERENCES hits (number), 
	FOREIGN KEY(item) REFERENCES items (number)
)
 WITHOUT ROWID

;
INSERT INTO "hit_items" VALUES(0,0,0);
INSERT INTO "hit_items" VALUES(0,1,1);
INSERT INTO "hit_items" VALUES(0,2,2);
INSERT INTO "hit_items" VALUES(0,9,3);
INSERT INTO "hit_items" VALUES(1,1,3);
INSERT INTO "hit_items" VALUES(1,2,0);
INSERT INTO "hit_items" VALUES(1,3,1);
INSERT INTO "hit_items" VALUES(1,4,2);
INSERT INTO "hit_items" VALUES(2,4,0);
INSERT INTO "hit_items" VALUES(2,5,1);
INSERT INTO "hit_items" VALUES(2,7,2);
INSERT INTO "hit_items" VALUES(2,9,3);
INSERT INTO "hit_items" VALUES(3,0,3);
INSERT INTO "hit_items" VALUES(3,3,2);
INSERT INTO "hit_items" VALUES(3,6,0);
INSERT INTO "hit_items" VALUES(3,7,1);
INSERT INTO "hit_items" VALUES(4,4,2);
INSERT INTO "hit_items" VALUES(4,5,3);
INSERT INTO "hit_items" VALUES(4,8,0);
INSERT INTO "hit_items" VALUES(4,9,1);
INSERT INTO "hit_items" VALUES(5,1,2);
INSERT INTO "hit_items" VALUES(5,6,3);
INSERT INTO "hit_items" VALUES(5,10,0);
INSERT INTO "hit_items" VALUES(5,11,1);
CREATE TABLE hits (
	number INTEGER NOT NULL, 
	stage TEXT NOT NULL, 
	name TEXT NOT NULL, 
	position INTEGER NOT NULL, 
	workers_wanted INTEGER NOT NULL CHECK (workers_wanted >= 0), 
	submitted INTEGER DEFAULT 0 NOT NULL, 
	PRIMARY KEY (number), 
	CONSTRAINT a_hit_has_no_more_than_its_workers CHECK (workers_wanted = 0 OR submitted <= workers_wanted), 
	FOREIGN KEY(stage) REFERENCES stages (name), 
	UNIQUE (name)
);
INSERT INTO "hits" VALUES(0,'all','h0001',0,2,1);
INSERT INTO "hits" VALUES(1,'all','h0002',1,2,1);
INSERT INTO "hits" VALUES(2,'all','h0003',2,2,1);
INSERT INTO "hits" VALUES(3,'all','h0004',3,2,0);
INSERT INTO "hits" VALUES(4,'all','h0005',4,2,0);
INSERT INTO "hits" VALUES(5,'all','h0006',5,2,0);
CREATE TABLE items (
	number INTEGER NOT NULL, 
	path TEXT NOT NULL, 
	content_hash TEXT, 
	byte_size INTEGER, 
	width INTEGER, 
	height INTEGER, 
	frames INTEGER NOT NULL, 
	PRIMARY KEY (number), 
	UNIQUE (path)
);
INSERT INTO "items" VALUES(0,'part 0/photo #0.png','0000000000000000000000000000000000000000000000000000000000000000',100,10,10,1);
INSERT INTO "items" VALUES(1,'part 1/photo #1.png','0000000000000000000000000000000000000000000000000000000000000001',101,10,10,1);
INSERT INTO "items" VALUES(2,'part 2/photo #2.png','0000000000000000000000000000000000000000000000000000000000000002',102,10,10,1);
INSERT INTO "items" VALUES(3,'part 0/photo #3.png','0000000000000000000000000000000000000000000000000000000000000003',103,10,10,1);
INSERT INTO "items" VALUES(4,'part 1/photo #4.png','0000000000000000000000000000000000000000000000000000000000000004',104,10,10,1);
INSERT INTO "items" VALUES(5,'part 2/photo #5.png','0000000000000000000000000000000000000000000000000000000000000005',105,10,10,1);
INSERT INTO "items" VALUES(6,'part 0/photo #6.png','0000000000000000000000000000000000000000000000000000000000000006',106,10,10,1);
INSERT INTO "items" VALUES(7,'part 1/photo #7.png','0000000000000000000000000000000000000000000000000000000000000007',107,10,10,1);
INSERT INTO "items" VALUES(8,'part 2/photo #8.png','0000000000000000000000000000000000000000000000000000000000000008',108,10,10,1);
INSERT INTO "items" VALUES(9,'part 0/photo #9.png','0000000000000000000000000000000000000000000000000000000000000009',109,10,10,1);
INSERT INTO "items" VALUES(10,'part 1/photo #10.png','000000000000000000000000000000000000000000000000000000000000000a',110,10,10,1);
INSERT INTO "items" VALUES(11,'part 2/photo #11.png','000000000000000000000000000000000000000000000000000000000000000b',111,10,10,1);
CREATE TABLE left_out (
	path TEXT NOT NULL, 
	status TEXT NOT NULL CHECK (status IN ('duplicate', 'unreadable')), 
	detail TEXT NOT NULL, 
	PRIMARY KEY (path)
);
CREATE TABLE question_events (
	number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	question_set INTEGER NOT NULL, 
	item INTEGER NOT NULL, 
	worker INTEGER NOT NULL, 
	kind TEXT NOT NULL CHECK (kind IN ('yes', 'no', 'skip', 'undo')), 
	undoes INTEGER, 
	seconds FLOAT NOT NULL, 
	at TEXT NOT NULL, 
	FOREIGN KEY(question_set, item) REFERENCES questions (question_set, item), 
	CONSTRAINT an_undo_undoes_something CHECK ((kind = 'undo') = (undoes IS NOT NULL)), 
	FOREIGN KEY(worker) REFERENCES workers (number), 
	UNIQUE (undoes), 
	FOREIGN KEY(undoes) REFERENCES question_events (number)
);
CREATE TABLE question_sets (
	number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	sentence TEXT NOT NULL CHECK (sentence <> ''), 
	wanted INTEGER NOT NULL CHECK (wanted >= 1), 
	policy TEXT NOT NULL CHECK (policy IN ('uniform', 'uncertainty')), 
	seed INTEGER NOT NULL, 
	run INTEGER, 
	cluster INTEGER, 
	method TEXT NOT NULL, 
	created_at TEXT NOT NULL, 
	CONSTRAINT a_cluster_is_of_a_run CHECK ((run IS NULL) = (cluster IS NULL)), 
	FOREIGN KEY(run) REFERENCES runs (number)
);
CREATE TABLE questions (
	question_set INTEGER NOT NULL, 
	item INTEGER NOT NULL, 
	position INTEGER NOT NULL, 
	PRIMARY KEY (question_set, item), 
	FOREIGN KEY(question_set) REFERENCES question_sets (number), 
	FOREIGN KEY(item) REFERENCES items (number)
)
 WITHOUT ROWID

;
CREATE TABLE response_groups (
	response INTEGER NOT NULL, 
	grp INTEGER NOT NULL, 
	label TEXT, 
	name TEXT, 
	PRIMARY KEY (response, grp), 
	FOREIGN KEY(response) REFERENCES responses (number) DEFERRABLE INITIALLY DEFERRED
)
 WITHOUT ROWID

;
CREATE TABLE response_items (
	response INTEGER NOT NULL, 
	item INTEGER NOT NULL, 
	position INTEGER NOT NULL, 
	grp INTEGER NOT NULL CHECK (grp >= 1), 
	PRIMARY KEY (response, item), 
	FOREIGN KEY(response) REFERENCES responses (number) DEFERRABLE INITIALLY DEFERRED, 
	FOREIGN KEY(item) REFERENCES items (number)
)
 WITHOUT ROWID

;
INSERT INTO "response_items" VALUES(1,0,3,2);
INSERT INTO "response_items" VALUES(1,1,2,1);
INSERT INTO "response_items" VALUES(1,2,0,1);
INSERT INTO "response_items" VALUES(1,9,1,2);
INSERT INTO "response_items" VALUES(2,1,0,1);
INSERT INTO "response_items" VALUES(2,2,2,1);
INSERT INTO "response_items" VALUES(2,3,1,2);
INSERT INTO "response_items" VALUES(2,4,3,2);
INSERT INTO "response_items" VALUES(3,4,1,2);
INSERT INTO "response_items" VALUES(3,5,3,2);
INSERT INTO "response_items" VALUES(3,7,0,1);
INSERT INTO "response_items" VALUES(3,9,2,1);
CREATE TABLE responses (
	number INTEGER NOT NULL, 
	assignment INTEGER NOT NULL, 
	submitted_at TEXT NOT NULL, 
	wall_seconds FLOAT, 
	active_seconds FLOAT, 
	source TEXT NOT NULL CHECK (source IN ('window', 'import', 'revision')), 
	supersedes INTEGER, 
	comment TEXT, 
	PRIMARY KEY (number), 
	FOREIGN KEY(assignment) REFERENCES assignments (number), 
	UNIQUE (supersedes), 
	FOREIGN KEY(supersedes) REFERENCES responses (number)
);
INSERT INTO "responses" VALUES(1,1,'2026-11-30T05:24:45.332737+00:00',0.020313,20.0,'window',NULL,NULL);
INSERT INTO "responses" VALUES(2,2,'2026-11-30T05:24:45.350742+00:00',0.01201,20.0,'window',NULL,NULL);
INSERT INTO "responses" VALUES(3,3,'2026-11-30T05:24:45.367645+00:00',0.011999,20.0,'window',NULL,NULL);
CREATE TABLE runs (
	number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	stage TEXT NOT NULL, 
	method TEXT NOT NULL, 
	created_at TEXT NOT NULL, 
	settings TEXT NOT NULL, 
	seed INTEGER NOT NULL, 
	versions TEXT NOT NULL, 
	fingerprint TEXT NOT NULL, 
	seconds FLOAT NOT NULL, 
	summary TEXT NOT NULL, 
	scalars TEXT NOT NULL, 
	names TEXT NOT NULL, 
	arrays BLOB NOT NULL, 
	FOREIGN KEY(stage) REFERENCES stages (name)
);
CREATE TABLE stages (
	name TEXT NOT NULL, 
	items_per_hit INTEGER NOT NULL, 
	redundancy INTEGER NOT NULL, 
	workers_per_hit INTEGER NOT NULL, 
	seed INTEGER NOT NULL, 
	created_at TEXT NOT NULL, 
	PRIMARY KEY (name)
);
INSERT INTO "stages" VALUES('all',4,2,2,3,'2026-11-30T05:24:45.282141+00:00');
CREATE TABLE truth (
	item INTEGER NOT NULL, 
	category TEXT NOT NULL, 
	PRIMARY KEY (item), 
	FOREIGN KEY(item) REFERENCES items (number)
);
CREATE TABLE workers (
	number INTEGER NOT NULL, 
	name TEXT NOT NULL CHECK (name <> ''), 
	created_at TEXT NOT NULL, 
	PRIMARY KEY (number), 
	UNIQUE (name)
);
INSERT INTO "workers" VALUES(0,'Ann','2026-11-30T05:24:45.302063+00:00');
INSERT INTO "workers" VALUES(1,'Bo','2026-11-30T05:24:45.354359+00:00');
CREATE INDEX hits_by_need ON hits (submitted, position) WHERE submitted < workers_wanted;
CREATE INDEX hit_items_by_item ON hit_items (item);
CREATE INDEX assignments_by_hit ON assignments (hit, status, last_event_at);
CREATE INDEX assignments_by_worker ON assignments (worker, status);
CREATE UNIQUE INDEX one_open_assignment_a_worker ON assignments (worker) WHERE status = 'open';
CREATE INDEX events_by_assignment ON events (assignment, number);
CREATE INDEX responses_by_assignment ON responses (assignment);
CREATE UNIQUE INDEX one_first_response_an_assignment ON responses (assignment) WHERE supersedes IS NULL;
CREATE INDEX question_events_by_set ON question_events (question_set, number);
CREATE INDEX question_events_by_worker ON question_events (question_set, worker, item);
CREATE TRIGGER events_no_update BEFORE UPDATE ON events BEGIN SELECT RAISE(ABORT, 'what was done is history and is never changed'); END;
CREATE TRIGGER events_no_delete BEFORE DELETE ON events BEGIN SELECT RAISE(ABORT, 'what was done is history and is never changed'); END;
CREATE TRIGGER responses_no_update BEFORE UPDATE ON responses BEGIN SELECT RAISE(ABORT, 'a submitted response is never changed; a revision supersedes it'); END;
CREATE TRIGGER responses_no_delete BEFORE DELETE ON responses BEGIN SELECT RAISE(ABORT, 'a submitted response is never changed; a revision supersedes it'); END;
CREATE TRIGGER response_items_no_update BEFORE UPDATE ON response_items BEGIN SELECT RAISE(ABORT, 'a submitted response is never changed; a revision supersedes it'); END;
CREATE TRIGGER response_items_no_delete BEFORE DELETE ON response_items BEGIN SELECT RAISE(ABORT, 'a submitted response is never changed; a revision supersedes it'); END;
CREATE TRIGGER response_groups_no_update BEFORE UPDATE ON response_groups BEGIN SELECT RAISE(ABORT, 'a submitted response is never changed; a revision supersedes it'); END;
CREATE TRIGGER response_groups_no_delete BEFORE DELETE ON response_groups BEGIN SELECT RAISE(ABORT, 'a submitted response is never changed; a revision supersedes it'); END;
CREATE TRIGGER flags_no_update BEFORE UPDATE ON flags BEGIN SELECT RAISE(ABORT, 'a flag is history and is never changed'); END;
CREATE TRIGGER flags_no_delete BEFORE DELETE ON flags BEGIN SELECT RAISE(ABORT, 'a flag is history and is never changed'); END;
CREATE TRIGGER runs_no_update BEFORE UPDATE ON runs BEGIN SELECT RAISE(ABORT, 'a run is never changed; fit again'); END;
CREATE TRIGGER runs_no_delete BEFORE DELETE ON runs BEGIN SELECT RAISE(ABORT, 'a run is never changed; fit again'); END;
CREATE TRIGGER hit_items_no_update BEFORE UPDATE ON hit_items BEGIN SELECT RAISE(ABORT, 'the items of a HIT never change'); END;
CREATE TRIGGER hit_items_no_delete BEFORE DELETE ON hit_items BEGIN SELECT RAISE(ABORT, 'the items of a HIT never change'); END;
CREATE TRIGGER questions_no_update BEFORE UPDATE ON questions BEGIN SELECT RAISE(ABORT, 'the items of a question set never change'); END;
CREATE TRIGGER questions_no_delete BEFORE DELETE ON questions BEGIN SELECT RAISE(ABORT, 'the items of a question set never change'); END;
CREATE TRIGGER question_events_no_update BEFORE UPDATE ON question_events BEGIN SELECT RAISE(ABORT, 'what was answered is history and is never changed'); END;
CREATE TRIGGER question_events_no_delete BEFORE DELETE ON question_events BEGIN SELECT RAISE(ABORT, 'what was answered is history and is never changed'); END;
CREATE TRIGGER response_items_sealed BEFORE INSERT ON response_items
    WHEN EXISTS (SELECT 1 FROM responses WHERE number = NEW.response)
    BEGIN SELECT RAISE(ABORT, 'a submitted response is never changed; a revision supersedes it'); END;
CREATE TRIGGER responses_cover_their_hit BEFORE INSERT ON responses
    WHEN EXISTS (
        SELECT 1 FROM assignments a
        WHERE a.number = NEW.assignment
          AND (a.status <> 'submitted'
               OR (SELECT count(*) FROM hit_items WHERE hit = a.hit)
                  <> (SELECT count(*) FROM response_items WHERE response = NEW.number)
               OR EXISTS (SELECT item FROM response_items WHERE response = NEW.number
                          EXCEPT SELECT item FROM hit_items WHERE hit = a.hit)))
    BEGIN SELECT RAISE(ABORT, 'a response covers exactly the items of its HIT'); END;
CREATE TRIGGER assignments_stay_closed BEFORE UPDATE OF status, hit, worker, item_order ON assignments
    WHEN OLD.status <> 'open'
    BEGIN SELECT RAISE(ABORT, 'a closed assignment is never opened again'); END;
CREATE TRIGGER hits_count_submissions_update AFTER UPDATE OF status ON assignments
    WHEN NEW.status = 'submitted'
    BEGIN UPDATE hits SET submitted = submitted + 1 WHERE number = NEW.hit; END;
CREATE TRIGGER hits_count_submissions_insert AFTER INSERT ON assignments
    WHEN NEW.status = 'submitted'
    BEGIN UPDATE hits SET submitted = submitted + 1 WHERE number = NEW.hit; END;
CREATE TRIGGER question_sets_stay
    BEFORE UPDATE OF number, sentence, wanted, policy, seed, run, cluster, created_at ON question_sets
    BEGIN SELECT RAISE(ABORT, 'a question set is never changed; make another'); END;
CREATE TRIGGER question_sets_no_delete BEFORE DELETE ON question_sets
    BEGIN SELECT RAISE(ABORT, 'a question set is never changed; make another'); END;
CREATE TRIGGER questions_answered_once BEFORE INSERT ON question_events
    WHEN NEW.kind <> 'undo' AND EXISTS (
        SELECT 1 FROM question_events e
        WHERE e.question_set = NEW.question_set AND e.worker = NEW.worker AND e.item = NEW.item AND e.kind <> 'undo'
          AND NOT EXISTS (SELECT 1 FROM question_events u WHERE u.undoes = e.number))
    BEGIN SELECT RAISE(ABORT, 'a worker answers a question once'); END;
CREATE TRIGGER answers_undone_by_their_worker BEFORE INSERT ON question_events
    WHEN NEW.kind = 'undo' AND NOT EXISTS (
        SELECT 1 FROM question_events e
        WHERE e.number = NEW.undoes AND e.question_set = NEW.question_set AND e.worker = NEW.worker
          AND e.item = NEW.item AND e.kind <> 'undo')
    BEGIN SELECT RAISE(ABORT, 'a worker takes back only their own answers'); END;
CREATE VIEW current_responses AS
    SELECT r.number AS response, a.hit AS hit, a.worker AS worker, h.stage AS stage, r.submitted_at AS submitted_at,
           r.wall_seconds AS wall_seconds, r.active_seconds AS active_seconds, a.number AS assignment
    FROM responses r JOIN assignments a ON a.number = r.assignment JOIN hits h ON h.number = a.hit
    WHERE NOT EXISTS (SELECT 1 FROM responses later WHERE later.supersedes = r.number);
CREATE VIEW pair_labels AS
    SELECT ia.path AS item_a, ib.path AS item_b, w.name AS worker, h.name AS hit,
           CASE WHEN a.grp = b.grp THEN 1 ELSE -1 END AS label
    FROM current_responses r
    JOIN hits h ON h.number = r.hit
    JOIN workers w ON w.number = r.worker
    JOIN response_items a ON a.response = r.response
    JOIN response_items b ON b.response = r.response AND b.item > a.item
    JOIN items ia ON ia.number = a.item
    JOIN items ib ON ib.number = b.item;
CREATE VIEW standing_answers AS
    SELECT e.number, e.question_set, e.item, e.worker, e.kind, e.at, e.seconds
    FROM question_events e
    WHERE e.kind <> 'undo' AND NOT EXISTS (SELECT 1 FROM question_events u WHERE u.undoes = e.number);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('events',15);
COMMIT;
