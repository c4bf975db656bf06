//! Files that are as nasty as files get, through the whole stack.
