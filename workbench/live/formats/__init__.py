"""The shapes in which agents keep their messages, a file each; `table` lists them."""
