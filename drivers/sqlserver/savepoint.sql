-- Begins an operation in a caller's transaction. A driver may only have switched implicit transactions on: SAVE
-- begins none, and a read of a table does.
DECLARE @begun int;
IF @@TRANCOUNT = 0
  SELECT TOP (1) @begun = 1 FROM sys.types;
SAVE TRANSACTION tableq_operation_{depth}
