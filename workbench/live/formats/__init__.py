"""The shapes in which agents keep their messages; `table` lists them."""
