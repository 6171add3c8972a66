"""The screens of the workbench: a module a screen."""
