//! Many jobs of several tenants at once.
