-- What each session of tableq begins with: one batch, one round trip.
SET NOCOUNT ON;
-- Any error ends the transaction: nothing of it is committed by mistake.
SET XACT_ABORT ON;
-- READPAST is an error in other levels, and a session from a pool may have been left in one.
SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
-- Milliseconds.
SET LOCK_TIMEOUT 5000;
-- A client library may have asked for less, and the server would cut payloads without a word.
SET TEXTSIZE 2147483647;
-- A server may have other defaults: a statement would stop after so many rows, or leave a transaction open.
SET ROWCOUNT 0;
SET IMPLICIT_TRANSACTIONS OFF;
-- Filtered indexes need these.
SET ANSI_NULLS ON;
SET ANSI_PADDING ON;
SET ANSI_WARNINGS ON;
SET ARITHABORT ON;
SET CONCAT_NULL_YIELDS_NULL ON;
SET QUOTED_IDENTIFIER ON;
SET NUMERIC_ROUNDABORT OFF;
-- Azure SQL says version 12 whatever it is, and is always new enough.
IF CAST(SERVERPROPERTY('EngineEdition') AS int) NOT IN (5, 8, 12)
  AND COALESCE(CAST(SERVERPROPERTY('ProductMajorVersion') AS int), 0) < 13
  THROW 52016, N'tableq needs SQL Server 2016 or later', 1;
IF EXISTS (SELECT 1 FROM sys.databases WHERE database_id = DB_ID() AND compatibility_level < 130)
  THROW 52130, N'tableq needs a database of compatibility level 130 or higher', 1;
