"""Campaign files: tables, migrations, repositories."""
