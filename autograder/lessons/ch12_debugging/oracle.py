"""The reference of ch12_debugging against something independent."""
